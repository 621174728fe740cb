import type { Platform } from '../shared/platform.ts';
import type { EpochMillis } from '../shared/time.ts';
import { compressJson, decompressText } from './compression.ts';
import { priceChangeKey, priceListKey } from './keys.ts';
import type { Table } from './table.ts';

const ttlMs = 5 * 60 * 1000;

/*
 * The cache is in the table and not in memory, so that an event about a price drops it for all containers at once. The
 * moment of the last change is an item of its own: a list that was asked for before the change and written after it
 * is older than that moment and never used.
 */

/** The price lists of the applications, kept for 5 minutes. */
export interface PriceListRepository {
  /** The list as it was at most 5 minutes ago; undefined when it must be asked for. */
  findFresh(appName: string, platform: Platform, now: EpochMillis): Promise<unknown>;
  /** Keeps a list that was asked for at `fetchedAt`. */
  save(
    place: { readonly appName: string; readonly platform: Platform; readonly fetchedAt: EpochMillis },
    list: object,
  ): Promise<void>;
  /** To be called when a price or product changed at the processor. */
  invalidate(appName: string, platform: Platform, now: EpochMillis): Promise<void>;
}

/** The price lists of one table. */
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
      const ttl = Math.ceil((fetchedAt + ttlMs) / 1000);
      await table.batchPut([{ ...priceListKey(appName, platform), fetchedAt, ttl, list: await compressJson(list) }]);
    },
    async invalidate(appName, platform, now) {
      const ttl = Math.ceil((now + 2 * ttlMs) / 1000);
      await table.batchPut([{ ...priceChangeKey(appName, platform), changedAt: now, ttl }]);
    },
  };
}
