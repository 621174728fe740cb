import * as v from 'valibot';

const Part = v.union([
  /** Elements of the previous list: the first index and the index after the last element. */
  v.strictObject({ copy: v.tuple([v.number(), v.number()]) }),
  v.strictObject({ insert: v.array(v.unknown()) }),
]);
type Part = v.InferOutput<typeof Part>;

/** Change of the value at a path of member names: its new value, or the parts of a new list. */
export const StateChange = v.union([
  v.strictObject({ path: v.array(v.string()), value: v.unknown() }),
  v.strictObject({ path: v.array(v.string()), parts: v.array(Part) }),
]);
export type StateChange = v.InferOutput<typeof StateChange>;

type Members = Readonly<Record<string, unknown>>;

/**
 * Computes the changes between two JSON values. Compares the elements of lists by identity: a list and its elements
 * must be replaced and not mutated.
 */
export function computeChanges(before: unknown, after: unknown, path: readonly string[] = []): readonly StateChange[] {
  if (isSame(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return [{ path: [...path], parts: toParts(before, after) }];
  if (isObject(before) && isObject(after) && Object.keys(before).every((key) => Object.hasOwn(after, key)))
    return Object.keys(after).flatMap((key) => computeChanges(before[key], after[key], [...path, key]));
  return [{ path: [...path], value: after }];
}

/** Returns the value after a change. */
export function applyStateChange(before: unknown, change: StateChange): unknown {
  const [key, ...path] = change.path;
  if (key !== undefined) {
    const members = before as Members;
    return { ...members, [key]: applyStateChange(members[key], { ...change, path }) };
  }
  if ('value' in change) return change.value;
  const list = before as readonly unknown[];
  return change.parts.flatMap((part) => ('copy' in part ? list.slice(...part.copy) : part.insert));
}

/** Describes a list by the elements that it has in common with the previous list, and by its new elements. */
function toParts(before: readonly unknown[], after: readonly unknown[]): Part[] {
  let start = 0;
  while (start < before.length && start < after.length && isSame(before[start], after[start])) start += 1;
  const indexes = new Map(before.slice(start).map((element, index) => [toKey(element), start + index]));
  const parts: Part[] = start > 0 ? [{ copy: [0, start] }] : [];
  for (const element of after.slice(start)) {
    const index = indexes.get(toKey(element));
    const last = parts.at(-1);
    if (index !== undefined && isSame(before[index], element)) {
      if (last && 'copy' in last && last.copy[1] === index) last.copy[1] = index + 1;
      else parts.push({ copy: [index, index + 1] });
    } else if (last && 'insert' in last) last.insert.push(element);
    else parts.push({ insert: [element] });
  }
  return parts;
}

/** Returns the key of a `[key, value]` pair, and other elements as they are. */
const toKey = (element: unknown): unknown => (Array.isArray(element) ? element[0] : element);

const isSame = (a: unknown, b: unknown): boolean =>
  Object.is(a, b) ||
  (Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((element, i) => isSame(element, b[i])));

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
