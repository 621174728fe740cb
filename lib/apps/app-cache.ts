import * as v from 'valibot';
import type { AppRepository } from '../db/app-repository.ts';
import type { Platform } from '../shared/platform.ts';
import type { EpochMillis } from '../shared/time.ts';
import { type App, AppName } from './app.ts';

/** What every request reads first, kept in memory for a while. */
export interface AppCache {
  find(name: string): Promise<App | undefined>;
  findStoreSettings(appName: string, platform: Platform): Promise<unknown>;
}

/** How long a rotated key or a changed setting may still be met in its old form. */
const ttlMs = 15_000;
const maxEntries = 1_000;

/** Applications and settings as they were at most 15 seconds ago; failures and unknown names are never kept. */
export function createAppCache(apps: AppRepository, now: () => EpochMillis): AppCache {
  const entries = new Map<string, { readonly value: unknown; readonly at: EpochMillis }>();
  const getOrLoad = async <T>(key: string, read: () => Promise<T>): Promise<T> => {
    const present = entries.get(key);
    const age = now() - (present?.at ?? 0);
    if (present && age >= 0 && age < ttlMs) return present.value as T;
    const value = await read();
    if (entries.size >= maxEntries) entries.clear();
    if (value === undefined) entries.delete(key);
    else entries.set(key, { value, at: now() });
    return value;
  };
  return {
    find: async (name) => (v.is(AppName, name) ? await getOrLoad(name, () => apps.find(name)) : undefined),
    findStoreSettings: async (appName, platform) =>
      await getOrLoad(`${appName}#${platform}`, () => apps.findStoreSettings(appName, platform)),
  };
}
