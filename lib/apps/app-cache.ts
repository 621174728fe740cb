import * as v from 'valibot';
import type { Catalogue } from '../purchases/catalogue.ts';
import { type Cache, createCache } from '../shared/cache.ts';
import type { Platform } from '../shared/platform.ts';
import { type EpochMillis, secondMs } from '../shared/time.ts';
import { type App, AppName } from './app.ts';
import type { Forward } from './forward.ts';

/** Reads apps with their store settings and their catalogue. */
interface AppReader {
  find(name: string): Promise<App | undefined>;
  findStoreSettings(appName: string, platform: Platform): Promise<unknown>;
  findCatalogue(appName: string): Promise<Catalogue | undefined>;
  findForwards(appName: string): Promise<readonly Forward[] | undefined>;
  /** Returns the name of the app that has issued the key with this digest. The key can be expired or revoked. */
  findKeyOwner(digest: string): Promise<string | undefined>;
}

/** An app reader that is fast enough to be used by every request. */
export interface AppCache extends AppReader {
  /** Finds the app as it was at most a second ago, for a key that the cached app does not have: it can be a new key. */
  findRecent(name: string): Promise<App | undefined>;
}

/** Maximum delay until a revoked key or a changed setting takes effect. */
const ttlMs = 15 * secondMs;
/** Maximum delay until a new key takes effect. A flood of wrong keys reads the app once in this time. */
export const newKeyDelayMs = secondMs;
const maxEntries = 1_000;

/**
 * Creates a cache with a TTL of 15 seconds. Unknown names are cached too: otherwise the time of a response reveals
 * whether an app exists. They have their own cache, so that guessed names do not displace apps. Failures and
 * missing settings are not cached.
 */
export function createAppCache(apps: AppReader, now: () => EpochMillis): AppCache {
  const cachedApps = createCache<App>(maxEntries);
  const unknownNames = createCache<true>(maxEntries);
  const recentReads = createCache<true>(maxEntries);
  const cachedSettings = createCache<unknown>(maxEntries);
  const cachedCatalogues = createCache<Catalogue>(maxEntries);
  const cachedForwards = createCache<readonly Forward[]>(maxEntries);
  const cachedOwners = createCache<string>(maxEntries);
  async function getOrLoad<T>(cache: Cache<T>, key: string, load: () => Promise<T | undefined>) {
    const cached = cache.get(key, now());
    if (cached !== undefined) return cached;
    const value = await load();
    const time = now();
    if (value !== undefined) cache.set(key, value, { now: time, usableUntil: time + ttlMs });
    return value;
  }
  async function find(name: string): Promise<App | undefined> {
    if (!v.is(AppName, name) || unknownNames.get(name, now())) return undefined;
    const app = await getOrLoad(cachedApps, name, async () => await read(name));
    const time = now();
    if (!app) unknownNames.set(name, true, { now: time, usableUntil: time + ttlMs });
    return app;
  }
  async function read(name: string): Promise<App | undefined> {
    const time = now();
    recentReads.set(name, true, { now: time, usableUntil: time + newKeyDelayMs });
    return await apps.find(name);
  }
  return {
    find,
    async findRecent(name) {
      if (recentReads.get(name, now()) === undefined) {
        cachedApps.delete(name);
        unknownNames.delete(name);
      }
      return await find(name);
    },
    findStoreSettings: async (appName, platform) =>
      await getOrLoad(cachedSettings, `${appName}#${platform}`, () => apps.findStoreSettings(appName, platform)),
    findCatalogue: async (appName) =>
      await getOrLoad(cachedCatalogues, appName, async () => (await apps.findCatalogue(appName)) ?? {}),
    findForwards: async (appName) =>
      await getOrLoad(cachedForwards, appName, async () => (await apps.findForwards(appName)) ?? []),
    findKeyOwner: async (digest) => await getOrLoad(cachedOwners, digest, () => apps.findKeyOwner(digest)),
  };
}
