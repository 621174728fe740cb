import { createHash } from 'node:crypto';
import type { buildOpenApiDocument } from './openapi.ts';

/** The digests of the operations of the last reviewed wire format. Path from the folder of the project. */
export const digestsFile = 'docs/openapi-digests.json';

type Document = Pick<ReturnType<typeof buildOpenApiDocument>, 'paths' | 'webhooks' | 'components'>;

/** Digests by the id of the operation or webhook. */
type Digests = Readonly<Record<string, string>>;

/**
 * Computes a digest of what clients rely on, for each operation and webhook: path, method, parameters, and the schemas
 * of bodies, responses and errors, with all schemas that these refer to. Texts and examples do not count.
 */
export function computeDigests({ paths, webhooks, components }: Document): Digests {
  const operations = Object.entries({ ...paths, ...webhooks }).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string] => {
      const wire = omitTexts({ ...operation, tags: undefined });
      const referenced = [...findReferences(wire, components)].sort(([a], [b]) => (a < b ? -1 : 1));
      return [(operation as { readonly operationId: string }).operationId, hash([path, method, wire, referenced])];
    }),
  );
  return Object.fromEntries(operations.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Lists the operations whose digests differ, such as `get-customer: changed`. */
export const listChanges = (before: Digests, after: Digests): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((id) => before[id] !== after[id])
    .map((id) => `${id}: ${before[id] === undefined ? 'new' : after[id] === undefined ? 'removed' : 'changed'}`)
    .sort();

const textKeywords: ReadonlySet<string> = new Set(['summary', 'description', 'example', 'examples']);

/** Omits texts and examples, and sorts members. A field of a schema can have the name of a text. */
function omitTexts(value: unknown, isMapOfFields = false): unknown {
  if (Array.isArray(value)) return value.map((entry) => omitTexts(entry));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => isMapOfFields || !textKeywords.has(name))
      .map(([name, member]): [string, unknown] => [name, omitTexts(member, !isMapOfFields && name === 'properties')])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Finds the components that a value refers to, also through other components, by their reference. */
function findReferences(value: unknown, components: Document['components'], found = new Map<string, unknown>()) {
  for (const [, reference = ''] of JSON.stringify(value).matchAll(/"\$ref":"([^"]+)"/g)) {
    if (found.has(reference)) continue;
    const [, , group = '', name = ''] = reference.split('/');
    const component = omitTexts((components as Record<string, Record<string, unknown>>)[group]?.[name]);
    found.set(reference, component);
    findReferences(component, components, found);
  }
  return found;
}

const hash = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12);
