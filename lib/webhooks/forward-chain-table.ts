import { type Key, toTtl } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { deliveryRetentionMs, type WebhookDelivery } from './delivery.ts';

/** Idempotent. */
export async function addToForwardChain({ table }: Service, entry: ChainEntry, now: EpochMillis): Promise<void> {
  return await table.batchPut([{ ...toChainKey(entry), ttl: toTtl(now + deliveryRetentionMs) }]);
}

/** Returns the first entry of a chain. */
export async function findFirstOfForwardChain(
  { table }: Service,
  appName: string,
  chain: string,
): Promise<ChainEntry | undefined> {
  const [item] = await table.query({ partition: keys.forwardChainKey.partition(appName, chain), limit: 1 });
  if (!item) return undefined;
  const { date, deliveryId } = keys.forwardChainKey.parseSortKey(String(item.sk));
  return { appName, chain, receivedAt: date, deliveryId };
}

export async function removeFromForwardChain({ table }: Service, entry: ChainEntry): Promise<void> {
  return await table.batchDelete([toChainKey(entry)]);
}

const toChainKey = ({ appName, chain, receivedAt, deliveryId }: ChainEntry): Key =>
  keys.forwardChainKey(appName, chain, receivedAt, deliveryId);

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
