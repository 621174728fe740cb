import { compressJson, decompressText } from '../foundation/compression.ts';
import { priceChangeKey, priceListKey, toTtl } from '../foundation/keys.ts';
import type { Table } from '../foundation/table.ts';
import type { PriceListRepository } from '../purchases/price-list-repository.ts';
import { minuteMs } from '../shared/time.ts';

const ttlMs = 5 * minuteMs;

export function createPriceListRepository(table: Table): PriceListRepository {
  return {
    async findFresh(appName, platform, now) {
      const items = await table.batchGet([priceListKey(appName, platform), priceChangeKey(appName, platform)]);
      const list = items.find(({ sk }) => sk === priceListKey(appName, platform).sk);
      const change = items.find(({ sk }) => sk === priceChangeKey(appName, platform).sk);
      const fetchedAt = Number(list?.fetchedAt ?? 0);
      const isFresh = now - fetchedAt < ttlMs && fetchedAt <= now && fetchedAt > Number(change?.changedAt ?? 0);
      if (!isFresh) return undefined;
      return JSON.parse(await decompressText(list?.list));
    },
    async save({ appName, platform, fetchedAt }, list) {
      const ttl = toTtl(fetchedAt + ttlMs);
      await table.batchPut([{ ...priceListKey(appName, platform), fetchedAt, ttl, list: await compressJson(list) }]);
    },
    async invalidate(appName, platform, now) {
      const ttl = toTtl(now + 2 * ttlMs);
      await table.batchPut([{ ...priceChangeKey(appName, platform), changedAt: now, ttl }]);
    },
  };
}
