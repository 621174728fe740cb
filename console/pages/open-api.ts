import { apiError } from '../api/api-error.ts';
import { buildUrl } from '../api/client.ts';

/** The parts of the OpenAPI document that the reference shows. */
export interface OpenApiDocument {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
}

interface OpenApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
  readonly 'x-key': 'public' | 'secret' | 'none';
  /** Query parameter with which a GET request changes data. */
  /** Whether no viewer key may call the operation, even if it only reads. */
  readonly 'x-secret-key-only'?: boolean;
  /** Further levels of keys that may call the operation. */
  readonly 'x-additional-levels'?: readonly string[];
  readonly 'x-writing-parameter'?: string;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
}

/** A JSON schema. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

/** An operation with its method and path. */
export interface Operation extends OpenApiOperation {
  readonly method: string;
  /** Such as `/v3/customers/{applicationUsername}`. */
  readonly path: string;
}

export async function fetchOpenApiDocument(signal: AbortSignal): Promise<OpenApiDocument> {
  const response = await fetch(buildUrl('/openapi.json', {}), { signal, credentials: 'omit' });
  if (!response.ok)
    throw apiError({ status: response.status, code: 'Unknown', message: 'The API document is unavailable.' });
  return inlineReferences(await response.json());
}

/**
 * Replaces each reference by its component. The keywords next to a reference, such as the description, take precedence.
 */
function inlineReferences(document: object): OpenApiDocument {
  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...rest } = value as Readonly<Record<string, unknown>>;
    const members = Object.fromEntries(Object.entries(rest).map(([name, member]) => [name, inline(member)]));
    return typeof $ref === 'string' ? { ...(inline(findComponent(document, $ref)) as object), ...members } : members;
  };
  return inline(document) as OpenApiDocument;
}

/** Finds the component of a reference such as `#/components/schemas/Purchase`. */
const findComponent = (document: object, reference: string): unknown =>
  reference
    .split('/')
    .slice(1)
    .reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>>)[name], document);

/** Lists the operations, in the order of the document. */
export const listOperations = ({ paths }: OpenApiDocument): Operation[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );

export const getJsonSchema = (content: Content | undefined): Schema | undefined =>
  content?.['application/json']?.schema;

/** A member of a schema, with the members around it: `purchases[].purchaseId`. */
export interface Member {
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

const maxDepth = 4;

/**
 * Lists the members of an object schema, depth first. Alternatives follow each other; a member of several is listed
 * once.
 */
export function listMembers(schema: Schema, prefix = '', depth = 0): Member[] {
  const { object } = unwrapLists(schema);
  if (depth >= maxDepth) return [];
  const alternatives = (object.oneOf ?? []).flatMap((alternative) => listMembers(alternative, prefix, depth));
  const members = Object.entries(object.properties ?? {}).flatMap(([name, member]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const nested = unwrapLists(member);
    return [
      {
        path,
        type: describeType(member),
        isRequired: object.required?.includes(name) ?? false,
        description: member.description ?? '',
      },
      ...listMembers(member, `${path}${nested.suffix}`, depth + 1),
    ];
  });
  return [...new Map([...alternatives, ...members].map((member) => [member.path, member])).values()];
}

function unwrapLists(schema: Schema): { readonly object: Schema; readonly suffix: string } {
  if (schema.items) {
    const inner = unwrapLists(schema.items);
    return { object: inner.object, suffix: `[]${inner.suffix}` };
  }
  if (typeof schema.additionalProperties === 'object' && !schema.properties) {
    const inner = unwrapLists(schema.additionalProperties);
    return { object: inner.object, suffix: `.*${inner.suffix}` };
  }
  return { object: schema, suffix: '' };
}

/** Describes the type of a schema in a few words. */
export function describeType(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const alternatives = schema.oneOf ?? (schema.type === undefined ? schema.anyOf : undefined);
  if (alternatives) return [...new Set(alternatives.map(describeType))].join(' | ');
  if (schema.type === 'array') return `${schema.items ? describeType(schema.items) : 'any'}[]`;
  if (schema.format === 'date-time') return 'date-time';
  return [schema.type ?? 'any'].flat().join(' | ');
}
