import { formatPlatform } from '../format.ts';

/** Names of event types. The other types are built from the platform, or shown as they are. */
const names: Readonly<Record<string, string>> = {
  'action.read': 'Actions read',
  'alert.tested': 'Test alert sent',
  'app.changed': 'App settings changed',
  'app.read': 'App settings read',
  'checkout.created': 'Checkout created',
  'client-token.created': 'Client token created',
  'customer.merged': 'Customers merged',
  'customer.read': 'Customer read',
  'entitlement.read': 'Entitlements read',
  'event.read': 'Event read',
  'due.read': 'Late work read',
  'credit.captured': 'Held credits spent',
  'credit.given': 'Credits given',
  'credit.read': 'Credits read',
  'credit.released': 'Held credits released',
  'credit.spent': 'Credits spent',
  'credit.taken': 'Credits taken',
  'grant.changed': 'Grant moved',
  'grant.created': 'Access granted',
  'grant.read': 'Grants read',
  'grant.revoked': 'Grant revoked',
  'events.read': 'Events read',
  'notifications.reconciled': 'Notifications recovered',
  'offer.signed': 'Offer signed',
  'plan.changed': 'Plan changed',
  'portal.created': 'Portal opened',
  'prices.read': 'Prices read',
  'purchase.acted': 'Acted at the store',
  'purchase.claimed': 'Purchase linked',
  'purchase.imported': 'Purchase imported',
  'purchase.read': 'Purchase read',
  'purchases.read': 'Purchases read',
  'receipt.refreshed': 'Purchase refreshed',
  'receipt.validated': 'Receipt validated',
  'refund.answered': 'Statement about a refund sent',
  'refund.consent': 'Consent to statements changed',
  'refund.read': 'Refund requests read',
  'service.read': 'Version read',
  'search.read': 'Search',
  'stats.read': 'Statistics read',
  'store.checked': 'Store settings checked',
  'stores.read': 'Stores read',
  'transaction.read': 'Transaction read',
  'webhook.app.called': 'Webhook sent',
  'webhook.repeated': 'Webhook repeated',
  'webhook.replayed': 'Webhook replayed',
  'webhook.tested': 'Test webhook sent',
  'webhooks.read': 'Webhooks read',
};

/** Names of the types of failed events, if they differ. */
const failedNames: Readonly<Record<string, string>> = {
  'receipt.refreshed': 'Refresh failed',
  'receipt.validated': 'Receipt not validated',
  'refund.answered': 'Statement about a refund not sent',
  'webhook.app.called': 'Webhook failed',
};

/** Describes the type of an event, such as `webhook.store_a.called`. */
export function describeEventType(type: string, hasFailed = false): string {
  const [, platform] = /^webhook\.(\w+)\.called$/.exec(type) ?? [];
  if (hasFailed && failedNames[type]) return failedNames[type];
  return names[type] ?? (platform === undefined ? type : `Notification of ${formatPlatform(platform)}`);
}
