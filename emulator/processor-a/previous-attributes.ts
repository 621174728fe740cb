import { isDeepStrictEqual } from 'node:util';

type Attributes = Readonly<Record<string, unknown>>;

/** What the attributes that changed were before: only those of an inner object that changed, but whole lists. */
export function diffPreviousAttributes(before: object, after: object): Attributes {
  const [old, now] = [before as Attributes, after as Attributes];
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  const changed = [...names].filter((name) => !isDeepStrictEqual(old[name], now[name]));
  return Object.fromEntries(changed.map((name) => [name, previousValue(old[name], now[name])]));
}

function previousValue(old: unknown, now: unknown): unknown {
  return isInner(old) && isInner(now) ? diffPreviousAttributes(old, now) : (old ?? null);
}

const isInner = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
