import * as v from 'valibot';
import type { Apps } from '../db/apps.ts';
import type { Platform } from '../purchases/platform.ts';
import type { Millis } from '../purchases/purchase.ts';
import { type App, AppName } from './app.ts';

/** What every request reads first, kept in memory for a while. */
export interface CachedApps {
  find(name: string): Promise<App | undefined>;
  storeSettings(app: string, platform: Platform): Promise<unknown>;
}

/** How long a rotated key or a changed setting may still be met in its old form. */
const livesMs = 15_000;
const largest = 1_000;

/** Applications and settings as they were at most 15 seconds ago; failures and unknown names are never kept. */
export function cachedApps(apps: Apps, now: () => Millis): CachedApps {
  const found = new Map<string, { readonly value: unknown; readonly at: Millis }>();
  const cached = async <T>(key: string, read: () => Promise<T>): Promise<T> => {
    const present = found.get(key);
    const age = now() - (present?.at ?? 0);
    if (present && age >= 0 && age < livesMs) return present.value as T;
    const value = await read();
    if (found.size >= largest) found.clear();
    if (value === undefined) found.delete(key);
    else found.set(key, { value, at: now() });
    return value;
  };
  return {
    find: async (name) => (v.is(AppName, name) ? await cached(name, () => apps.find(name)) : undefined),
    storeSettings: async (app, platform) => await cached(`${app}#${platform}`, () => apps.storeSettings(app, platform)),
  };
}
