import { readFileSync } from 'node:fs';

/** Fields of the schemas that Google publishes, with their types, by schema. */
const schemas = new Map<string, readonly (readonly [name: string, type: string])[]>(
  [
    ...readFileSync('node_modules/@googleapis/androidpublisher/build/v3.d.ts', 'utf8').matchAll(
      /interface Schema\$(\w+) \{([\s\S]*?)\n {4}\}/g,
    ),
  ].map(([, name = '', body = '']) => [
    name,
    [...body.matchAll(/^ {8}(\w+)\?: (.+);$/gm)].map(([, field = '', type = '']) => [field, type] as const),
  ]),
);

const timePattern = /(Time|Date)$/;
const integerPattern = /^(units|.*Millis)$/;

function buildValue(field: string, type: string): unknown {
  const [, schema, list] = /^Schema\$(\w+)(\[\])?/.exec(type) ?? [];
  if (schema !== undefined) return list ? [buildExample(schema)] : buildExample(schema);
  if (type.startsWith('string[]')) return ['text'];
  if (type.startsWith('number')) return 1;
  if (type.startsWith('boolean')) return true;
  if (timePattern.test(field)) return '2026-11-01T00:00:00Z';
  return integerPattern.test(field) ? '5' : field === 'currencyCode' ? 'EUR' : 'text';
}

/** Builds an object of a published schema with a value in each field. */
export const buildExample = (schema: string): Record<string, unknown> =>
  Object.fromEntries((schemas.get(schema) ?? []).map(([field, type]) => [field, buildValue(field, type)]));

/** Lists the paths of all members of a value. List elements do not count as members. */
export function listPaths(value: unknown, path: readonly (string | number)[] = []): (string | number)[][] {
  if (Array.isArray(value)) return value.flatMap((element, index) => listPaths(element, [...path, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [[...path, key], ...listPaths(member, [...path, key])]);
}

/** Copies a value with the member at a path replaced. `undefined` removes it. */
export function replaceAt(value: unknown, [key, ...rest]: readonly (string | number)[], replacement: unknown): unknown {
  if (key === undefined) return replacement;
  if (Array.isArray(value))
    return value.map((element, index) => (index === key ? replaceAt(element, rest, replacement) : element));
  const members = value as Record<string, unknown>;
  return { ...members, [key]: replaceAt(members[key], rest, replacement) };
}
