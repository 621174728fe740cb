import { formatPlatform } from '../format.ts';

/** Names of event types that do not follow from the type, as "Purchase read" follows from `purchase.read`. */
const names: Readonly<Record<string, string>> = {
  'action.read': 'Actions read',
  'alert.tested': 'Test alert sent',
  'app.changed': 'App settings changed',
  'app.read': 'App settings read',
  'customer.merged': 'Customers merged',
  'entitlement.read': 'Entitlements read',
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
  'notifications.reconciled': 'Notifications recovered',
  'portal.created': 'Portal opened',
  'purchase.acted': 'Acted at the store',
  'purchase.claimed': 'Purchase linked',
  'receipt.refreshed': 'Purchase refreshed',
  'refund.answered': 'Statement about a refund sent',
  'refund.consent': 'Consent to statements changed',
  'refund.read': 'Refund requests read',
  'service.read': 'Version read',
  'search.read': 'Search',
  'stats.read': 'Statistics read',
  'store.checked': 'Store settings checked',
  'webhook.app.called': 'Webhook sent',
  'webhook.tested': 'Test webhook sent',
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
  const [, platform] = /^webhook\.(\w+)\./.exec(type) ?? [];
  if (hasFailed && failedNames[type]) return failedNames[type];
  return names[type] ?? (platform === undefined ? toName(type) : `Notification of ${formatPlatform(platform)}`);
}

const toName = (type: string): string => type.charAt(0).toUpperCase() + type.slice(1).replace(/[.-]/g, ' ');
