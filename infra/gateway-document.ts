import type { Contract } from '../lib/api/contract.ts';
import type { ErrorCode } from '../lib/shared/errors.ts';
import type { NotificationEndpoint } from '../lib/store-notifications/notification-endpoints.ts';

interface GatewayDocumentOptions {
  readonly title: string;
  readonly hooks: readonly NotificationEndpoint[];
  /** The ARN that API Gateway calls a function by, from the id of the contract or hook. */
  readonly uriOf: (functionId: string) => string;
}

type Operations = Readonly<Record<string, object>>;

/**
 * The body of the REST API: routes and integrations only, made from the contracts; aliases call the same function. The
 * schemas are in docs/openapi.json.
 */
export function buildGatewayDocument(
  contracts: readonly Contract[],
  { title, hooks: endpoints, uriOf }: GatewayDocumentOptions,
) {
  const paths: Record<string, Operations> = {};
  for (const contract of contracts) {
    for (const path of [contract.path, ...contract.aliases]) {
      const template = toGatewayPath(path);
      paths[template] = { ...paths[template], ...buildOperations(contract, uriOf(contract.id)) };
    }
  }
  for (const { id, summary, paths: hookPaths, methods } of endpoints) {
    for (const path of hookPaths) {
      const operation = buildOperation({ path, summary }, uriOf(id));
      paths[toGatewayPath(path)] = Object.fromEntries(methods.map((method) => [method.toLowerCase(), operation]));
    }
  }
  return {
    openapi: '3.0.1',
    info: { title, version: '3.12.0' },
    paths,
    'x-amazon-apigateway-gateway-responses': gatewayResponses,
  };
}

/** `/v3/customers/:applicationUsername` as OpenAPI writes it. */
export const toGatewayPath = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

/** The operation, and for contracts that browsers call the preflight beside it. */
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

/** For browsers: any site, no cookies, the headers that clients send. Credentials are never part of a preflight. */
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

/** What the gateway itself answers, in the words of the service and readable by browsers. */
const buildGatewayResponse = (status: number, code: ErrorCode, message: string) => ({
  statusCode: String(status),
  responseParameters: { 'gatewayresponse.header.Access-Control-Allow-Origin': "'*'" },
  responseTemplates: { 'application/json': JSON.stringify({ ok: false, status, code, message }) },
});

const gatewayResponses = {
  DEFAULT_4XX: buildGatewayResponse(400, 'InvalidPayload', 'The request is malformed.'),
  DEFAULT_5XX: buildGatewayResponse(500, 'InternalError', 'An internal problem prevented processing.'),
  WAF_FILTERED: buildGatewayResponse(403, 'Forbidden', 'The request was refused.'),
  INTEGRATION_TIMEOUT: buildGatewayResponse(504, 'InternalError', 'The service took too long.'),
  MISSING_AUTHENTICATION_TOKEN: buildGatewayResponse(404, 'ResourceNotFound', 'There is no such path.'),
  REQUEST_TOO_LARGE: buildGatewayResponse(413, 'InvalidPayload', 'The request is too large.'),
  THROTTLED: buildGatewayResponse(429, 'ConnectionFailed', 'Too many requests.'),
  QUOTA_EXCEEDED: buildGatewayResponse(429, 'ConnectionFailed', 'Too many requests.'),
} as const;
