import { isDeepStrictEqual } from 'node:util';

type Attributes = Readonly<Record<string, unknown>>;

/** Returns the previous values of changed attributes. Nested objects are compared recursively, lists as a whole. */
export function diffPreviousAttributes(before: object, after: object): Attributes {
  const [previous, current] = [before as Attributes, after as Attributes];
  const names = new Set([...Object.keys(previous), ...Object.keys(current)]);
  const changed = [...names].filter((name) => !isDeepStrictEqual(previous[name], current[name]));
  return Object.fromEntries(changed.map((name) => [name, toPreviousValue(previous[name], current[name])]));
}

function toPreviousValue(previous: unknown, current: unknown): unknown {
  return isRecord(previous) && isRecord(current) ? diffPreviousAttributes(previous, current) : (previous ?? null);
}

const isRecord = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
