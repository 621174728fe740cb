import type { EpochMillis } from '../foundation/time.ts';
import type { WebhookDelivery } from './delivery.ts';

/** The place of a delivery among the messages of one purchase for one URL. */
export interface ChainEntry {
  readonly appName: string;
  /** Id of the chain. */
  readonly chain: string;
  readonly receivedAt: EpochMillis;
  readonly deliveryId: string;
}

/** Returns the place of a forward, or undefined for other deliveries. */
export function toChainEntry({ appName, deliveryId, forward }: WebhookDelivery): ChainEntry | undefined {
  return forward && { appName, deliveryId, chain: forward.chain, receivedAt: forward.receivedAt };
}
