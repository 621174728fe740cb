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

/**
 * Returns a function that calls `create` at its first call and returns the same value from then on. The annotation lets
 * the build omit a function that is not used.
 */
/* @__NO_SIDE_EFFECTS__ */
export function once<T>(create: () => T): () => T {
  let created: { readonly value: T } | undefined;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
}

/**
 * Returns a function that calls `load` once for each list of arguments, and returns the same result from then on. The
 * arguments are texts, plain objects and left-out ones.
 */
export function memoize<Args extends readonly (string | object | undefined)[], T>(
  load: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  const results = new Map<string, Promise<T>>();
  return async (...args) => {
    const key = JSON.stringify(args);
    const result = results.get(key) ?? load(...args);
    results.set(key, result);
    return await result;
  };
}
