import { compressJson, decompressText } from '../foundation/compression.ts';
import { toTtl } from '../foundation/key.ts';
import { priceChangeKey, priceListKey } from '../foundation/keys.ts';
import type { Platform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { type EpochMillis, minuteMs } from '../foundation/time.ts';

/*
 * A cache of the apps' price lists for 5 minutes. It is in the table instead of the memory of a container, so that a
 * store notification about a price invalidates it for all containers. The time of the last change is an item of its
 * own: a list that was fetched before the change and saved after it is never used.
 */

const ttlMs = 5 * minuteMs;

/** Returns the cached list. Undefined if it is stale or does not exist. */
export async function findFreshPriceList(
  { table }: Service,
  appName: string,
  platform: Platform,
  now: EpochMillis,
): Promise<unknown> {
  const items = await table.batchGet([priceListKey(appName, platform), priceChangeKey(appName, platform)]);
  const list = items.find(({ sk }) => sk === priceListKey(appName, platform).sk);
  const change = items.find(({ sk }) => sk === priceChangeKey(appName, platform).sk);
  const fetchedAt = Number(list?.fetchedAt ?? 0);
  const isFresh = now - fetchedAt < ttlMs && fetchedAt <= now && fetchedAt > Number(change?.changedAt ?? 0);
  if (!isFresh) return undefined;
  return JSON.parse(await decompressText(list?.list));
}

/** Saves a list that was requested at `fetchedAt`. */
export async function savePriceList(
  { table }: Service,
  {
    appName,
    platform,
    fetchedAt,
  }: { readonly appName: string; readonly platform: Platform; readonly fetchedAt: EpochMillis },
  list: object,
): Promise<void> {
  const ttl = toTtl(fetchedAt + ttlMs);
  await table.batchPut([{ ...priceListKey(appName, platform), fetchedAt, ttl, list: await compressJson(list) }]);
}

/** Makes all lists fetched until `now` stale. To be called if a price or product has changed at the processor. */
export async function invalidatePriceList(
  { table }: Service,
  appName: string,
  platform: Platform,
  now: EpochMillis,
): Promise<void> {
  const ttl = toTtl(now + 2 * ttlMs);
  await table.batchPut([{ ...priceChangeKey(appName, platform), changedAt: now, ttl }]);
}
