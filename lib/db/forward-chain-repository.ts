import type { ForwardChainRepository } from '../forwards/forward-chain-repository.ts';
import * as keys from '../foundation/keys.ts';
import type { Table } from '../foundation/table.ts';
import { deliveryRetentionMs } from '../webhooks/delivery.ts';
import type { ChainEntry } from '../webhooks/forward-order.ts';

export function createForwardChainRepository(table: Table): ForwardChainRepository {
  return {
    add: async (entry, now) =>
      await table.batchPut([{ ...toChainKey(entry), ttl: keys.toTtl(now + deliveryRetentionMs) }]),
    async findFirst(appName, chain) {
      const [item] = await table.query({ partition: keys.forwardChainPartition(appName, chain), limit: 1 });
      return item && { appName, chain, ...keys.parseForwardChainSortKey(String(item.sk)) };
    },
    remove: async (entry) => await table.batchDelete([toChainKey(entry)]),
  };
}

const toChainKey = ({ appName, chain, receivedAt, deliveryId }: ChainEntry): keys.Key =>
  keys.forwardChainKey(appName, chain, { receivedAt, deliveryId });
