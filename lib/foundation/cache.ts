import type { EpochMillis } from './time.ts';

/** A cache in the memory of one Lambda container. */
export interface Cache<T> {
  /** Returns undefined for an unknown or expired entry, and for one stored in the future if the clock was set back. */
  get(key: string, now: EpochMillis): T | undefined;
  /** Stores a value from `now` until `usableUntil`. */
  set(key: string, value: T, lifetime: { readonly now: EpochMillis; readonly usableUntil: EpochMillis }): void;
  delete(key: string): void;
}

/** A map that is cleared when it is full, because its values are cheap to get again. */
export function createBoundedMap<T>(maxEntries: number) {
  const entries = new Map<string, T>();
  return {
    get: (key: string): T | undefined => entries.get(key),
    set(key: string, value: T): void {
      if (entries.size >= maxEntries && !entries.has(key)) entries.clear();
      entries.set(key, value);
    },
    delete: (key: string): void => void entries.delete(key),
  };
}

/** Creates a cache of values that expire. It is cleared when it is full. */
export function createCache<T>(maxEntries: number): Cache<T> {
  const entries = createBoundedMap<{
    readonly value: T;
    readonly storedAt: EpochMillis;
    readonly usableUntil: EpochMillis;
  }>(maxEntries);
  return {
    get(key, now) {
      const entry = entries.get(key);
      return entry && entry.storedAt <= now && now < entry.usableUntil ? entry.value : undefined;
    },
    set: (key, value, { now, usableUntil }) => entries.set(key, { value, storedAt: now, usableUntil }),
    delete: entries.delete,
  };
}
