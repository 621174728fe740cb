import { formatPlatform } from '../format.ts';

/**
 * Meaning of store notifications whose effect on the purchase does not explain them. Keys are types of the App Store,
 * with or without subtype, and of Google Play.
 * @see https://developer.apple.com/documentation/appstoreservernotifications/notificationtype
 */
const meanings: Readonly<Record<string, string>> = {
  CONSUMPTION_REQUEST: 'requests a statement about a refund',
  EXTERNAL_PURCHASE_TOKEN: 'reminds of an external purchase token',
  'EXTERNAL_PURCHASE_TOKEN.CREATED': 'created an external purchase token',
  'EXTERNAL_PURCHASE_TOKEN.UNREPORTED': 'misses the report of an external purchase token',
  METADATA_UPDATE: 'changed the metadata of the subscription',
  MIGRATION: 'migrated the subscription to Advanced Commerce',
  PENDING_REFUND_REVIEW: 'requests a statement about a refund',
  PRICE_CHANGE: 'changed the price of the subscription',
  PRICE_INCREASE: 'requests consent to a price increase',
  'PRICE_INCREASE.ACCEPTED': 'reports consent to a price increase',
  REFUND_DECLINED: 'declined the refund',
  REFUND_REVERSED: 'reversed the refund',
  RENEWAL_EXTENDED: 'extended the subscription',
  'RENEWAL_EXTENSION.FAILURE': 'did not extend the subscription',
  'RENEWAL_EXTENSION.SUMMARY': 'extended the subscriptions to a product',
  RESCIND_CONSENT: 'reports that a parent rescinded the consent',
  SUBSCRIPTION_PRICE_CHANGE_UPDATED: 'reports a change of the price',
  SUBSCRIPTION_PRICE_STEP_UP_CONSENT_UPDATED: 'reports consent to a higher price',
};

/** Describes a notification of a store by its type in the store's terms. */
export function describeNotification(platform: string, type: string): string {
  const name = [type, type.split('.', 1)[0] ?? type].find((candidate) => Object.hasOwn(meanings, candidate));
  const store = formatPlatform(platform);
  return name === undefined ? `Notification from ${store}` : `${store} ${meanings[name]}`;
}
