import { apiError } from '../api/api-error.ts';
import { buildUrl } from '../api/client.ts';

/** The parts of the OpenAPI document that the console shows. */
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
  readonly requestBody?: object;
  readonly 'x-key': 'public' | 'secret' | 'none';
  /** No viewer key may call the operation, even if it only reads. */
  readonly 'x-secret-key-only'?: boolean;
  /** Further levels of keys that may call the operation. */
  readonly 'x-additional-levels'?: readonly string[];
  /** Query parameter with which a GET request changes data. */
  readonly 'x-writing-parameter'?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
}

/** A JSON schema. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
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
