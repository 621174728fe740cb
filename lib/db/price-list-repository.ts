import type { Platform } from '../purchases/platform.ts';
import type { Millis } from '../purchases/purchase.ts';
import { priceChangeKey, priceListKey } from './keys.ts';
import { compressJson, decompressText } from './compression.ts';
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
  findFresh(app: string, platform: Platform, now: Millis): Promise<unknown>;
  /** Keeps a list that was asked for at `fetchedAt`. */
  save(
    place: { readonly app: string; readonly platform: Platform; readonly fetchedAt: Millis },
    list: object,
  ): Promise<void>;
  /** To be called when a price or product changed at the processor. */
  invalidate(app: string, platform: Platform, now: Millis): Promise<void>;
}

/** The price lists of one table. */
export function createPriceListRepository(table: Table): PriceListRepository {
  return {
    async findFresh(app, platform, now) {
      const items = await table.batchGet([priceListKey(app, platform), priceChangeKey(app, platform)]);
      const list = items.find(({ sk }) => sk === priceListKey(app, platform).sk);
      const change = items.find(({ sk }) => sk === priceChangeKey(app, platform).sk);
      const fetchedAt = Number(list?.fetchedAt ?? 0);
      const isFresh = now - fetchedAt < ttlMs && fetchedAt <= now && fetchedAt > Number(change?.changedAt ?? 0);
      if (!isFresh) return undefined;
      return JSON.parse(await decompressText(list?.list));
    },
    async save({ app, platform, fetchedAt }, list) {
      const ttl = Math.ceil((fetchedAt + ttlMs) / 1000);
      await table.batchPut([{ ...priceListKey(app, platform), fetchedAt, ttl, list: await compressJson(list) }]);
    },
    async invalidate(app, platform, now) {
      const ttl = Math.ceil((now + 2 * ttlMs) / 1000);
      await table.batchPut([{ ...priceChangeKey(app, platform), changedAt: now, ttl }]);
    },
  };
}
