import * as v from 'valibot';
import { type Cache, createCache } from '../foundation/cache.ts';
import type { Platform } from '../foundation/platform.ts';
import { perContainer, type Service } from '../foundation/service.ts';
import { secondMs } from '../foundation/time.ts';
import { type App, AppName } from './app.ts';
import { findApp, findCatalogue, findForwards, findKeyOwner, findStoreSettings } from './app-table.ts';
import type { Catalogue } from './catalogue.ts';
import type { Forward } from './forward.ts';

/*
 * Reads of apps that are fast enough for every request, with a TTL of 15 seconds. Unknown names are cached too:
 * otherwise the time of a response reveals whether an app exists. They have their own cache, so that guessed names do
 * not displace apps. Failures and missing settings are not cached.
 */

/** Maximum delay until a revoked key or a changed setting takes effect. */
const ttlMs = 15 * secondMs;

/** Maximum delay until a new key takes effect. A flood of wrong keys reads the app once in this time. */
export const newKeyDelayMs = secondMs;
const maxEntries = 1_000;

const caches = perContainer(() => ({
  apps: createCache<App>(maxEntries),
  unknownNames: createCache<true>(maxEntries),
  recentReads: createCache<true>(maxEntries),
  settings: createCache<unknown>(maxEntries),
  catalogues: createCache<Catalogue>(maxEntries),
  forwards: createCache<readonly Forward[]>(maxEntries),
  owners: createCache<string>(maxEntries),
}));

/** The lifetime starts with the read: a value can be out of date when a slow read ends. */
async function getOrLoad<T>({ now }: Service, cache: Cache<T>, key: string, load: () => Promise<T | undefined>) {
  const time = now();
  const cached = cache.get(key, time);
  if (cached !== undefined) return cached;
  const value = await load();
  if (value !== undefined) cache.set(key, value, { now: time, usableUntil: time + ttlMs });
  return value;
}

export async function findCachedApp(service: Service, name: string): Promise<App | undefined> {
  const { apps, unknownNames, recentReads } = caches(service);
  const time = service.now();
  if (!v.is(AppName, name) || unknownNames.get(name, time)) return undefined;
  const app = await getOrLoad(service, apps, name, async () => {
    recentReads.set(name, true, { now: time, usableUntil: time + newKeyDelayMs });
    return await findApp(service, name);
  });
  if (!app) unknownNames.set(name, true, { now: time, usableUntil: time + ttlMs });
  return app;
}

/** Finds the app as it was at most a second ago, for a key that the cached app does not have: it can be a new key. */
export async function findRecentApp(service: Service, name: string): Promise<App | undefined> {
  const { apps, unknownNames, recentReads } = caches(service);
  if (recentReads.get(name, service.now()) === undefined) {
    apps.delete(name);
    unknownNames.delete(name);
  }
  return await findCachedApp(service, name);
}

export const findCachedSettings = async (service: Service, appName: string, platform: Platform): Promise<unknown> =>
  await getOrLoad(service, caches(service).settings, `${appName}#${platform}`, () =>
    findStoreSettings(service, appName, platform),
  );

export const findCachedCatalogue = async (service: Service, appName: string): Promise<Catalogue | undefined> =>
  await getOrLoad(
    service,
    caches(service).catalogues,
    appName,
    async () => (await findCatalogue(service, appName)) ?? {},
  );

export const findCachedForwards = async (service: Service, appName: string): Promise<readonly Forward[] | undefined> =>
  await getOrLoad(service, caches(service).forwards, appName, async () => (await findForwards(service, appName)) ?? []);

/** Returns the name of the app that has issued the key with this digest. The key can be expired or revoked. */
export const findCachedKeyOwner = async (service: Service, digest: string): Promise<string | undefined> =>
  await getOrLoad(service, caches(service).owners, digest, () => findKeyOwner(service, digest));
