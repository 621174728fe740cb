import type { EpochMillis } from './time.ts';

/** A cache in the memory of one Lambda container. */
export interface Cache<T> {
  /** Returns undefined for an unknown or expired entry, and for one stored in the future if the clock was set back. */
  get(key: string, now: EpochMillis): T | undefined;
  /** Stores a value from `now` until `usableUntil`. */
  set(key: string, value: T, lifetime: { readonly now: EpochMillis; readonly usableUntil: EpochMillis }): void;
  delete(key: string): void;
}

/** Creates a cache that is cleared when it is full, because entries are cheap to fetch again. */
export function createCache<T>(maxEntries: number): Cache<T> {
  const entries = new Map<
    string,
    { readonly value: T; readonly storedAt: EpochMillis; readonly usableUntil: EpochMillis }
  >();
  return {
    get(key, now) {
      const entry = entries.get(key);
      return entry && entry.storedAt <= now && now < entry.usableUntil ? entry.value : undefined;
    },
    set(key, value, { now, usableUntil }) {
      if (entries.size >= maxEntries && !entries.has(key)) entries.clear();
      entries.set(key, { value, storedAt: now, usableUntil });
    },
    delete: (key) => void entries.delete(key),
  };
}
