import type { Contract } from '../lib/api/contract.ts';
import { apiVersion } from '../lib/api/service.ts';
import type { ErrorCode } from '../lib/shared/errors.ts';
import type { NotificationEndpoint } from '../lib/store-notifications/notification-endpoints.ts';

interface GatewayDocumentOptions {
  readonly title: string;
  readonly notificationEndpoints: readonly NotificationEndpoint[];
  /** Returns the invocation URI of a function by the id of its contract or notification endpoint. */
  readonly toInvocationUri: (functionId: string) => string;
}

type Operations = Readonly<Record<string, object>>;

/**
 * Builds the body of the REST API from the contracts: routes and integrations. Aliases call the same function. The schemas
 * are in docs/openapi.json.
 */
export function buildGatewayDocument(
  contracts: readonly Contract[],
  { title, notificationEndpoints, toInvocationUri }: GatewayDocumentOptions,
) {
  const paths: Record<string, Operations> = {};
  for (const contract of contracts) {
    for (const path of [contract.path, ...contract.aliases]) {
      const template = toGatewayPath(path);
      paths[template] = { ...paths[template], ...buildOperations(contract, toInvocationUri(contract.id)) };
    }
  }
  for (const { id, summary, paths: endpointPaths, methods } of notificationEndpoints) {
    for (const path of endpointPaths) {
      const operation = buildOperation({ path, summary }, toInvocationUri(id));
      paths[toGatewayPath(path)] = Object.fromEntries(methods.map((method) => [method.toLowerCase(), operation]));
    }
  }
  return {
    openapi: '3.0.1',
    info: { title, version: apiVersion },
    paths,
    'x-amazon-apigateway-gateway-responses': gatewayResponses,
  };
}

/** Converts `/v3/customers/:applicationUsername` to `/v3/customers/{applicationUsername}`. */
export const toGatewayPath = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

/** Builds the operation of a contract. Contracts that browsers call also get a CORS preflight. */
function buildOperations(contract: Contract, uri: string): Operations {
  const operation = buildOperation(contract, uri);
  const method = contract.method.toLowerCase();
  return contract.keyLevel === 'secret'
    ? { [method]: operation }
    : { [method]: operation, options: { ...preflight, parameters: operation.parameters } };
}

const buildOperation = ({ path, summary }: Pick<Contract, 'path' | 'summary'>, uri: string) => ({
  summary,
  parameters: [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  })),
  responses: { 200: { description: 'OK' } },
  'x-amazon-apigateway-integration': {
    type: 'aws_proxy',
    httpMethod: 'POST',
    uri,
    passthroughBehavior: 'when_no_match',
    timeoutInMillis: 29_000,
  },
});

/** Allows any origin, without cookies. A preflight request has no credentials. */
const corsHeaders = {
  'Access-Control-Allow-Origin': "'*'",
  'Access-Control-Allow-Methods': "'GET,POST,OPTIONS'",
  'Access-Control-Allow-Headers': "'authorization,content-type,accept,x-request-id'",
  'Access-Control-Max-Age': "'86400'",
} as const;

const prefixHeaders = (headers: Readonly<Record<string, string>>, prefix: string) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${prefix}.${name}`, value]));

const preflight = {
  summary: 'Preflight',
  responses: {
    204: {
      description: 'No content',
      headers: Object.fromEntries(Object.keys(corsHeaders).map((name) => [name, { schema: { type: 'string' } }])),
    },
  },
  'x-amazon-apigateway-integration': {
    type: 'mock',
    requestTemplates: { 'application/json': '{"statusCode":204}' },
    passthroughBehavior: 'when_no_templates',
    responses: {
      default: { statusCode: '204', responseParameters: prefixHeaders(corsHeaders, 'method.response.header') },
    },
  },
};

/** Builds an error response of API Gateway itself, in the default error format and readable by browsers. */
const buildGatewayResponse = (status: number, code: ErrorCode, message: string) => ({
  statusCode: String(status),
  responseParameters: { 'gatewayresponse.header.Access-Control-Allow-Origin': "'*'" },
  responseTemplates: { 'application/json': JSON.stringify({ ok: false, status, code, message }) },
});

const gatewayResponses = {
  DEFAULT_4XX: buildGatewayResponse(400, 'InvalidPayload', 'The request is malformed.'),
  DEFAULT_5XX: buildGatewayResponse(500, 'InternalError', 'An internal problem prevented processing.'),
  WAF_FILTERED: buildGatewayResponse(403, 'Forbidden', 'The request is rejected.'),
  INTEGRATION_TIMEOUT: buildGatewayResponse(504, 'InternalError', 'The service timed out.'),
  MISSING_AUTHENTICATION_TOKEN: buildGatewayResponse(404, 'ResourceNotFound', 'The path is not found.'),
  REQUEST_TOO_LARGE: buildGatewayResponse(413, 'InvalidPayload', 'The request is too large.'),
  THROTTLED: buildGatewayResponse(429, 'ConnectionFailed', 'Too many requests.'),
  QUOTA_EXCEEDED: buildGatewayResponse(429, 'ConnectionFailed', 'Too many requests.'),
} as const;
