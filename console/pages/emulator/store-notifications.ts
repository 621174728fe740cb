import type { StoreNotification } from '../../api/emulator.ts';
import type { TimelineEntry } from '../../components/timeline.tsx';

/** @see https://developer.android.com/google/play/billing/rtdn-reference */
const googleTypes: Readonly<Record<string, string>> = {
  1: 'SUBSCRIPTION_RECOVERED',
  2: 'SUBSCRIPTION_RENEWED',
  3: 'SUBSCRIPTION_CANCELED',
  4: 'SUBSCRIPTION_PURCHASED',
  5: 'SUBSCRIPTION_ON_HOLD',
  6: 'SUBSCRIPTION_IN_GRACE_PERIOD',
  7: 'SUBSCRIPTION_RESTARTED',
  10: 'SUBSCRIPTION_PAUSED',
  11: 'SUBSCRIPTION_PAUSE_SCHEDULE_CHANGED',
  12: 'SUBSCRIPTION_REVOKED',
  13: 'SUBSCRIPTION_EXPIRED',
  19: 'SUBSCRIPTION_PRICE_CHANGE_UPDATED',
  20: 'SUBSCRIPTION_PENDING_PURCHASE_CANCELED',
};

/** Returns the type of a notification in the store's terms. */
function getNotificationType(native: StoreNotification['native']): string {
  const { notificationType, subtype, type, kind, subscriptionNotification } = native;
  if (typeof notificationType === 'string') return [notificationType, subtype].filter(Boolean).join(' ');
  if (typeof type === 'string') return type;
  if (typeof kind === 'string') return kind;
  const { notificationType: number } = (subscriptionNotification ?? {}) as { readonly notificationType?: number };
  return (
    (number !== undefined && googleTypes[number]) ||
    Object.keys(native).find((name) => name.endsWith('Notification')) ||
    'Notification'
  );
}

/** Converts a notification of the store to an entry of the steps of a purchase. */
export function toTimelineEntry({ id, at, native, state, attempts }: StoreNotification): TimelineEntry {
  const status = attempts.at(-1)?.status;
  const details: Readonly<Record<StoreNotification['state'], string>> = {
    delivered: `The service accepted it with HTTP ${status}.`,
    failed: `The service did not accept it: ${status === undefined ? 'no response' : `HTTP ${status}`}.`,
    held: 'The emulator holds it.',
    waiting: attempts.length === 0 ? 'It is being sent.' : 'The store retries it later.',
  };
  return {
    id: `notification ${id}`,
    date: at,
    title: `Store notification ${getNotificationType(native)}`,
    detail: details[state],
    tone: state === 'failed' ? 'bad' : 'neutral',
  };
}
