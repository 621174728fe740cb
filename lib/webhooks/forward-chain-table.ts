import * as keys from '../foundation/keys.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { deliveryRetentionMs } from './delivery.ts';
import type { ChainEntry } from './forward-order.ts';

/** Idempotent. */
export async function addToForwardChain({ table }: Service, entry: ChainEntry, now: EpochMillis): Promise<void> {
  return await table.batchPut([{ ...toChainKey(entry), ttl: keys.toTtl(now + deliveryRetentionMs) }]);
}

/** Returns the first entry of a chain. */
export async function findFirstOfForwardChain(
  { table }: Service,
  appName: string,
  chain: string,
): Promise<ChainEntry | undefined> {
  const [item] = await table.query({ partition: keys.forwardChainPartition(appName, chain), limit: 1 });
  return item && { appName, chain, ...keys.parseForwardChainSortKey(String(item.sk)) };
}

export async function removeFromForwardChain({ table }: Service, entry: ChainEntry): Promise<void> {
  return await table.batchDelete([toChainKey(entry)]);
}

const toChainKey = ({ appName, chain, receivedAt, deliveryId }: ChainEntry): keys.Key =>
  keys.forwardChainKey(appName, chain, { receivedAt, deliveryId });
