import { expect } from '@jest/globals';
import type { Platform } from '../lib/foundation/platform.ts';

/**
 * New end of a purchase compared with the end before the actions. Revoking a purchase without an end counts as sooner.
 */
export type EndChange = 'sooner' | 'as before' | 'later';

/**
 * Actions at a store, separated by spaces, and fields of the purchase record after each action was followed by a
 * refresh.
 */
export type ActionCase = [platform: Platform, actions: string, end: EndChange, expected: object | typeof unchanged];

/** Expects the same purchase record as before the actions. */
export const unchanged = 'the unchanged record';

const renews = { isExpired: false, renewalIntent: 'Renew' };
/** A reason is set when access ends. */
const lapses = { isExpired: false, renewalIntent: 'Lapse', cancelationReason: undefined };
const endedState = { isExpired: true, renewalIntent: 'Lapse' };
const renewedState = { ...renews, lastRenewalDate: expect.any(String) };

/** Cases for a subscription, with every action of every store. */
export const subscriptionActions: ActionCase[] = [
  ['store_a', 'renew', 'later', renewedState],
  ['store_a', 'cancel', 'as before', lapses],
  ['store_a', 'cancel uncancel', 'as before', renews],
  ['store_a', 'fail-payment', 'later', { ...renews, isBillingRetryPeriod: true }],
  ['store_a', 'fail-payment recover', 'later', { ...renewedState, isBillingRetryPeriod: false }],
  ['store_a', 'expire', 'sooner', { ...endedState, cancelationReason: 'Unknown' }],
  ['store_a', 'cancel expire', 'sooner', { ...endedState, cancelationReason: 'Customer' }],
  ['store_a', 'fail-payment expire', 'sooner', { ...endedState, cancelationReason: 'System.BillingError' }],
  ['store_a', 'raise-price expire', 'sooner', { ...endedState, cancelationReason: 'Customer.PriceIncrease' }],
  ['store_a', 'refund', 'sooner', { isExpired: true, cancelationReason: 'Customer.OtherReason' }],
  ['store_a', 'revoke', 'sooner', { isExpired: true, cancelationReason: 'Customer.OtherReason' }],
  ['store_a', 'change-plan', 'as before', { ...renews, productId: 'store_a:better' }],
  ['store_a', 'raise-price', 'as before', { ...renews, priceConsentStatus: 'Notified' }],
  ['store_a', 'raise-price accept-price', 'as before', { ...renews, priceConsentStatus: 'Agreed' }],
  ['store_a', 'extend', 'later', renews],
  ['store_a', 'redeem-offer', 'as before', unchanged],
  // A requested or declined refund changes nothing. A reversed refund restores access.
  ['store_a', 'request-refund', 'as before', unchanged],
  ['store_a', 'request-refund decline-refund', 'as before', unchanged],
  ['store_a', 'refund reverse-refund', 'as before', { isExpired: false }],
  ['store_a', 'extend-all', 'later', renews],
  // These report something to the developer and change nothing.
  ['store_a', 'rescind-consent', 'as before', unchanged],
  ['store_a', 'external-purchase-token', 'as before', unchanged],
  ['store_a', 'update-metadata', 'as before', unchanged],
  ['store_a', 'migrate', 'as before', unchanged],
  ['store_a', 'change-price', 'as before', unchanged],
  // The family member has their own purchase.
  ['store_a', 'share', 'as before', unchanged],
  // The same sale with another transaction id.
  ['store_a', 'restore', 'as before', unchanged],

  ['store_b', 'renew', 'later', renewedState],
  ['store_b', 'cancel', 'as before', { ...lapses, renewalIntentChangeDate: expect.any(String) }],
  ['store_b', 'cancel expire', 'sooner', { ...endedState, cancelationReason: 'Customer' }],
  ['store_b', 'cancel uncancel', 'as before', renews],
  ['store_b', 'fail-payment', 'later', { ...renews, isBillingRetryPeriod: true }],
  ['store_b', 'fail-payment recover', 'later', { ...renewedState, isBillingRetryPeriod: false }],
  ['store_b', 'expire', 'sooner', endedState],
  // A refund without revocation keeps access.
  ['store_b', 'refund', 'as before', { isExpired: false }],
  ['store_b', 'revoke', 'sooner', { ...endedState, cancelationReason: 'System' }],
  [
    'store_b',
    'pause',
    'sooner',
    { isExpired: true, isPaused: true, cancelationReason: 'PAUSED', autoResumeDate: expect.any(String) },
  ],
  ['store_b', 'pause resume', 'as before', renews],
  // The new plan is another purchase.
  ['store_b', 'change-plan', 'sooner', { isExpired: true, cancelationReason: 'System.Replaced' }],
  // The resumed subscription is another purchase.
  ['store_b', 'expire resubscribe', 'sooner', endedState],
  ['store_b', 'raise-price', 'as before', { ...renews, priceConsentStatus: 'Notified' }],
  ['store_b', 'raise-price accept-price', 'as before', { ...renews, priceConsentStatus: 'Agreed' }],
  ['store_b', 'delete', 'sooner', { ...endedState, cancelationReason: 'System.Deleted' }],
  ['store_b', 'acknowledge', 'as before', { ...renews, isAcknowledged: true }],
  ['store_b', 'test-notification', 'as before', unchanged],

  ['store_c', 'renew', 'later', renewedState],
  ['store_c', 'cancel', 'as before', lapses],
  ['store_c', 'cancel uncancel', 'as before', renews],
  ['store_c', 'fail-payment', 'later', { ...renews, isBillingRetryPeriod: true }],
  ['store_c', 'fail-payment recover', 'later', { ...renewedState, isBillingRetryPeriod: false }],
  ['store_c', 'expire', 'sooner', { ...endedState, cancelationReason: 'Customer' }],
  // The store does not report who ended the subscription.
  ['store_c', 'refund', 'sooner', { ...endedState, cancelationReason: 'Unknown' }],
  ['store_c', 'revoke', 'sooner', { ...endedState, cancelationReason: 'Unknown' }],
  ['store_c', 'chargeback', 'sooner', { ...endedState, cancelationReason: 'Unknown' }],
  ['store_c', 'chargeback reverse-chargeback', 'as before', renews],
  // The store cannot be queried until the app is opened.
  ['store_c', 'revoke-keys', 'as before', unchanged],

  ...(['processor_a', 'service_processor_a'] as const).flatMap((platform): ActionCase[] => [
    [platform, 'renew', 'later', renewedState],
    [platform, 'cancel', 'as before', lapses],
    [platform, 'cancel uncancel', 'as before', renews],
    // A period that is not paid is not a renewal.
    [platform, 'fail-payment', 'later', { ...renews, isBillingRetryPeriod: true, lastRenewalDate: undefined }],
    [platform, 'fail-payment recover', 'later', { ...renewedState, isBillingRetryPeriod: false }],
    // The schedule ends the subscription, which does not show it.
    [platform, 'schedule-end', 'as before', lapses],
    // The customer pays the open invoice outside of Stripe.
    [platform, 'fail-payment pay', 'later', { ...renewedState, isBillingRetryPeriod: false }],
    // A credit note forgives the open invoice.
    [platform, 'fail-payment forgive', 'later', { ...renewedState, isBillingRetryPeriod: false }],
    [platform, 'expire', 'sooner', endedState],
    [platform, 'pause', 'sooner', { isExpired: true, isPaused: true, cancelationReason: 'PAUSED' }],
    [platform, 'pause resume', 'as before', renews],
    // Stripe keeps the subscription active while it does not collect payments.
    [platform, 'pause-collection', 'as before', unchanged],
    [platform, 'pause-collection resume-collection', 'as before', unchanged],
    [platform, 'pause-collection renew', 'later', renews],
    [platform, 'change-plan', 'as before', { ...renews, productId: `${platform}:better`, lastRenewalDate: undefined }],
    [platform, 'refund', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
    // The money of a refund that failed is back.
    [platform, 'refund reverse-refund', 'as before', unchanged],
    // The money came back to the customer outside of Stripe.
    [platform, 'refund-outside', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
    // Another item is another purchase.
    [platform, 'add-item', 'as before', unchanged],
    [platform, 'add-item remove-item', 'as before', unchanged],
    // A payment of something else changes no period, and a payment in two parts pays the same one.
    [platform, 'extra-invoice', 'as before', unchanged],
    [platform, 'extra-invoice refund', 'as before', renews],
    [platform, 'invoice-item', 'as before', unchanged],
    [platform, 'split-payment', 'as before', unchanged],
    // The refund of one of two payments.
    [platform, 'split-payment refund', 'as before', renews],
    // An invoice that is written off pays for nothing.
    [platform, 'fail-payment mark-uncollectible', 'later', { renewalIntent: 'Renew', lastRenewalDate: undefined }],
    // The action `revoke` is a lost dispute. An open dispute can be won.
    [platform, 'dispute', 'as before', unchanged],
    [platform, 'dispute win-dispute', 'as before', unchanged],
    [platform, 'dispute revoke', 'sooner', { isExpired: true, cancelationReason: 'System' }],
    [platform, 'revoke win-dispute', 'as before', unchanged],
    [platform, 'refund revoke', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
    // An inquiry withdraws nothing. The bank can escalate it to a dispute.
    [platform, 'inquire', 'as before', unchanged],
    [platform, 'inquire answer-inquiry', 'as before', unchanged],
    [platform, 'inquire close-inquiry', 'as before', unchanged],
    [platform, 'inquire refund', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
    [platform, 'inquire dispute', 'as before', unchanged],
    [platform, 'inquire dispute revoke', 'sooner', { isExpired: true, cancelationReason: 'System' }],
    [platform, 'revoke', 'sooner', { isExpired: true, cancelationReason: 'System' }],
  ]),

  ['processor_b', 'renew', 'later', renewedState],
  // A prorated charge within the period does not renew.
  ['processor_b', 'change-plan', 'as before', { ...renews, lastRenewalDate: undefined }],
  // A renewing subscription has another day, because the gateway bills at an unknown hour. It gets a reason when
  // access ends.
  ['processor_b', 'cancel', 'sooner', { ...lapses, cancelationReason: undefined }],
  ['processor_b', 'fail-payment', 'later', { ...renews, isBillingRetryPeriod: true }],
  ['processor_b', 'fail-payment recover', 'later', renewedState],
  ['processor_b', 'expire', 'sooner', endedState],
  ['processor_b', 'refund', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
  ['processor_b', 'revoke', 'sooner', { isExpired: true, cancelationReason: 'System' }],
  ['processor_b', 'dispute', 'as before', unchanged],
  ['processor_b', 'dispute win-dispute', 'as before', unchanged],
  ['processor_b', 'dispute revoke', 'sooner', { isExpired: true, cancelationReason: 'System' }],
  ['processor_b', 'test-notification', 'as before', unchanged],
];

/** Actions on a purchase whose payment is pending, by store. */
export const pendingActions: (readonly [platform: Platform, action: 'pay' | 'abandon'])[] = (
  ['store_b', 'processor_a', 'service_processor_a', 'processor_b'] as const
).flatMap((platform) => [[platform, 'pay'] as const, [platform, 'abandon'] as const]);

/** Actions on a consumable, by store. */
export const consumableActions: (readonly [platform: Platform, action: string])[] = [
  ['store_a', 'finish'],
  ['store_c', 'consume'],
];

/** Cases for a non-consumable product. */
export const oneOffActions: ActionCase[] = [
  ['store_a', 'refund', 'sooner', { isExpired: true, cancelationReason: 'Customer.OtherReason' }],
  ['store_a', 'revoke', 'sooner', { isExpired: true, cancelationReason: 'Customer.OtherReason' }],
  ['store_b', 'refund', 'sooner', { isExpired: true, cancelationReason: 'Unknown' }],
  ['store_b', 'revoke', 'sooner', { isExpired: true, cancelationReason: 'Unknown' }],
  ['store_c', 'refund', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
  ['store_c', 'revoke', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
  ['processor_a', 'refund', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
  ['processor_a', 'revoke', 'sooner', { isExpired: true, cancelationReason: 'System' }],
  ['service_processor_a', 'refund', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
  ['service_processor_a', 'revoke', 'sooner', { isExpired: true, cancelationReason: 'System' }],
  ['processor_b', 'refund', 'sooner', { isExpired: true, cancelationReason: 'Customer' }],
  ['processor_b', 'revoke', 'sooner', { isExpired: true, cancelationReason: 'System' }],
];

/**
 * Actions of purchases with seats, items or prepaid periods, and of the app that acknowledges a purchase. They need
 * other purchases than these cases: test/functions/app-store-purchases.test.ts and play-lifecycle.test.ts test them. A
 * refund at Braintree fails days later: test/lib/stores/braintree/observe.test.ts.
 */
export const actionsOfOtherTests: [platform: Platform, action: string][] = [
  ['store_a', 'assign-seat'],
  ['store_a', 'remove-seat'],
  ['store_a', 'add-seats'],
  ['store_a', 'refund-seats'],
  ['store_b', 'add-item'],
  ['store_b', 'remove-item'],
  ['store_b', 'revoke-item'],
  ['store_b', 'top-up'],
  ['store_a', 'request-refund'],
  ['store_b', 'request-refund'],
  ['processor_b', 'reverse-refund'],
  ...(['processor_a', 'service_processor_a'] as const).flatMap((platform): [Platform, string][] => [
    [platform, 'move-trial'],
    [platform, 'report-usage'],
  ]),
];
