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
