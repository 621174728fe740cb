/** A copy of an object in which one member has another value. */
interface Variant {
  /** Path of the member, such as `items.data.0.price`. */
  readonly path: string;
  readonly change: 'null' | 'absent' | 'unknown';
  readonly object: unknown;
}

/**
 * Lists a variant of an object for every member, at every level: with null, without the member, and with an unknown
 * value if it is a text.
 */
export function listVariants(object: unknown): Variant[] {
  return listPaths(object).flatMap((path) => {
    const isText = typeof path.reduce<unknown>((value, key) => (value as Json)[key], object) === 'string';
    return (['null', 'absent', ...(isText ? ['unknown' as const] : [])] as const).map((change) => ({
      path: path.join('.'),
      change,
      object: replaceMember(object, path, change),
    }));
  });
}

type Json = Record<string, unknown>;

const listPaths = (value: unknown, path: readonly string[] = []): string[][] =>
  value === null || typeof value !== 'object'
    ? []
    : Object.entries(value).flatMap(([key, member]) => [[...path, key], ...listPaths(member, [...path, key])]);

function replaceMember(object: unknown, path: readonly string[], change: Variant['change']): unknown {
  const copy = structuredClone(object);
  const parent = path.slice(0, -1).reduce<unknown>((value, key) => (value as Json)[key], copy) as Json;
  const key = path.at(-1) ?? '';
  if (change !== 'absent') parent[key] = change === 'null' ? null : 'an unknown value';
  else if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
  return copy;
}

/**
 * Reads every variant of an object, except of members that match `decisive`. Returns the number of variants, and those
 * that `read` rejects or reads to another result than the object.
 */
export function checkVariants(object: unknown, decisive: RegExp, read: (variant: unknown) => unknown) {
  const expected = JSON.stringify(read(object));
  const variants = listVariants(object).filter(({ path }) => !decisive.test(path));
  const failures = variants.flatMap(({ path, change, object: variant }) => {
    const result = tryRead(() => JSON.stringify(read(variant)));
    return result === expected ? [] : [{ path, change, result }];
  });
  return { count: variants.length, failures };
}

function tryRead(read: () => string): string {
  try {
    return read();
  } catch (error) {
    return String(error);
  }
}
