import { type Key, toTtl } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { deliveryRetentionMs } from './delivery.ts';
import type { ChainEntry } from './forward-order.ts';

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
