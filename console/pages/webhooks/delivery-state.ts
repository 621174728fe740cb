import type { DeliveryRecord } from '../../../lib/webhooks/contract.ts';

export type DeliveryState = DeliveryRecord['state'];

const descriptions = {
  pending: { label: 'Pending', tone: 'info' },
  delivered: { label: 'Delivered', tone: 'good' },
  dead: { label: 'Dead', tone: 'bad' },
  redirected: { label: 'Redirected', tone: 'neutral' },
} as const satisfies Readonly<Record<DeliveryState, object>>;

/** Name and tone of the state of a webhook delivery. */
export const describeDeliveryState = (state: DeliveryState): (typeof descriptions)[DeliveryState] =>
  descriptions[state];

/** Returns the reason of a webhook, or its type if it is about no change of a purchase. */
export const describeReason = ({
  type,
  notification: { reason },
}: Pick<DeliveryRecord, 'type' | 'notification'>): string => (reason === 'OTHER' ? type : reason);
