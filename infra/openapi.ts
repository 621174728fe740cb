import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import type { Contract } from '../lib/api/contract.ts';
import { apiVersion } from '../lib/api/service.ts';
import { toGatewayPath } from './gateway-document.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** Builds the OpenAPI 3.1 document of the service from the contracts and their schemas. */
export function buildOpenApiDocument(contracts: readonly Contract[]) {
  const paths: Record<string, Record<string, object>> = {};
  for (const contract of contracts) {
    for (const path of [contract.path, ...contract.aliases]) {
      const template = toGatewayPath(path);
      paths[template] = { ...paths[template], [contract.method.toLowerCase()]: buildOperation(contract, path) };
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Claimcheck', version: apiVersion, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    paths,
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'basic', description: 'App name and key' },
        bearer: { type: 'http', scheme: 'bearer', description: 'base64(app name:key)' },
        query: { type: 'apiKey', in: 'query', name: 'apiKey', description: 'Requires appName' },
      },
    },
  };
}

function buildOperation(contract: Contract, path: string) {
  const isAlias = path !== contract.path;
  return {
    operationId: isAlias ? `${contract.id}${path.replace(/[^A-Za-z0-9]+/g, '-')}` : contract.id,
    summary: contract.summary,
    tags: [contract.area],
    ...(isAlias && { description: `Alias of ${contract.path}.` }),
    parameters: [...buildParameters(contract.params, 'path'), ...buildParameters(contract.query, 'query')],
    ...(contract.body && { requestBody: { required: true, content: toJsonContent(toSchema(contract.body, 'input')) } }),
    responses: buildResponses(contract),
    security: contract.keyLevel === 'none' ? [] : [{ key: [] }, { bearer: [] }, { query: [] }],
    'x-key': contract.keyLevel,
  };
}

const retryAfter = {
  'Retry-After': { description: 'Seconds until the next attempt', schema: { type: 'integer', minimum: 1 } },
};

/** Two error formats respond to every error with 200, also to blocked credentials. */
function buildResponses({ response, keyLevel, errorFormat }: Contract) {
  const ok = { description: 'OK', content: toJsonContent(toSchema(response, 'output')) };
  if (keyLevel === 'none') return { 200: ok };
  if (errorFormat === 'validation' || errorFormat === 'client-token') return { 200: { ...ok, headers: retryAfter } };
  return { 200: ok, 429: { description: 'Too many requests with invalid credentials', headers: retryAfter } };
}

const toJsonContent = (schema: JsonSchema) => ({ 'application/json': { schema } });

function buildParameters(schema: v.GenericSchema | undefined, location: 'path' | 'query') {
  if (!schema) return [];
  const { properties = {}, required = [] } = toSchema(schema, 'input') as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: location,
    required: location === 'path' || required.includes(name),
    schema: property,
  }));
}

/** Converts a schema. Omits checks that JSON Schema cannot express: well-formed Unicode and lengths in bytes. */
function toSchema(schema: v.GenericSchema, typeMode: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...rest } = toJsonSchema(schema, {
    typeMode,
    errorMode: 'ignore',
    target: 'draft-2020-12',
  });
  return rest;
}
