import type { Contract } from '../lib/api/contract.ts';
import { apiVersion } from '../lib/api/service.ts';
import type { ErrorCode } from '../lib/foundation/errors.ts';

/** Paths of a function without a contract. */
export interface Route {
  readonly id: string;
  readonly summary: string;
  readonly paths: readonly `/${string}`[];
  readonly methods: readonly ('GET' | 'POST')[];
}

interface GatewayDocumentOptions {
  readonly title: string;
  /** The notification endpoints and the console. */
  readonly routes: readonly Route[];
  /** Returns the invocation of a function by the id of its contract or route. */
  readonly toInvocation: (functionId: string) => Invocation;
}

/** The invocation of a function by API Gateway. */
export interface Invocation {
  readonly uri: string;
  /** ARN of a role. */
  readonly credentials: string;
}

type Operations = Readonly<Record<string, object>>;

/**
 * Builds the body of the REST API from the contracts: routes and integrations. Aliases call the same function. The
 * document with the schemas is of infra/openapi.ts.
 */
export function buildGatewayDocument(
  contracts: readonly Contract[],
  { title, routes, toInvocation }: GatewayDocumentOptions,
) {
  const paths: Record<string, Operations> = {};
  for (const contract of contracts) {
    for (const path of [contract.path, ...contract.aliases]) {
      const template = toGatewayPath(path);
      paths[template] = { ...paths[template], ...buildOperations(contract, toInvocation(contract.id)) };
    }
  }
  for (const { id, summary, paths: routePaths, methods } of routes) {
    for (const path of routePaths) {
      const operation = buildOperation({ path, summary }, toInvocation(id));
      paths[toGatewayPath(path)] = Object.fromEntries(methods.map((method) => [method.toLowerCase(), operation]));
    }
  }
  paths['/{proxy+}'] = catchAll;
  return {
    openapi: '3.0.1',
    info: { title, version: apiVersion },
    paths,
    'x-amazon-apigateway-minimum-compression-size': minCompressedBytes,
    'x-amazon-apigateway-gateway-responses': gatewayResponses,
  };
}

/**
 * API Gateway compresses larger responses for clients that accept gzip: the console and long lists. Functions return
 * text, because binary media types would also change the bodies of requests.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-gzip-compression-decompression.html
 */
const minCompressedBytes = 1_024;

/**
 * Converts `/v3/customers/:applicationUsername` to `/v3/customers/{applicationUsername}`, and `:proxy+` to `{proxy+}`.
 */
export const toGatewayPath = (path: string): string => path.replace(/:(\w+\+?)/g, '{$1}');

/** Builds the operation of a contract. Contracts that browsers call also get a CORS preflight. */
function buildOperations(contract: Contract, invocation: Invocation): Operations {
  const operation = buildOperation(contract, invocation);
  const method = contract.method.toLowerCase();
  return contract.keyLevel === 'secret'
    ? { [method]: operation }
    : { [method]: operation, options: { ...preflight, parameters: operation.parameters } };
}

const buildOperation = ({ path, summary }: Pick<Contract, 'path' | 'summary'>, invocation: Invocation) => ({
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
    ...invocation,
    passthroughBehavior: 'when_no_match',
    timeoutInMillis: 29_000,
  },
});

/** Allows any origin, without cookies. A preflight request is without credentials. */
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

/** Seconds after which clients repeat a request that the service could not handle. */
const retryAfterSeconds = 5;

/** Scripts on other origins can read `Retry-After` only if it is exposed. */
const retryHeaders = {
  'gatewayresponse.header.Retry-After': `'${retryAfterSeconds}'`,
  'gatewayresponse.header.Access-Control-Expose-Headers': "'Retry-After'",
};

const buildErrorBody = (status: number, code: ErrorCode, message: string): string =>
  JSON.stringify({ ok: false, status, code, message });

/** Builds an error response of API Gateway itself, in the default error format and readable by browsers. */
const buildGatewayResponse = (status: number, code: ErrorCode, message: string) => ({
  statusCode: String(status),
  responseParameters: {
    'gatewayresponse.header.Access-Control-Allow-Origin': "'*'",
    ...((status === 429 || status >= 500) && retryHeaders),
  },
  responseTemplates: { 'application/json': buildErrorBody(status, code, message) },
});

const unknownPath = [404, 'ResourceNotFound', 'The path is not found.'] as const;

/**
 * The response to an unknown path. API Gateway would take the `Authorization` header of this request for a signature
 * of AWS, and reject it with another error.
 */
const catchAll = {
  'x-amazon-apigateway-any-method': {
    summary: 'Unknown path',
    parameters: [{ name: 'proxy', in: 'path', required: true, schema: { type: 'string' } }],
    responses: {
      404: {
        description: 'Not found',
        headers: { 'Access-Control-Allow-Origin': { schema: { type: 'string' } } },
      },
    },
    'x-amazon-apigateway-integration': {
      type: 'mock',
      requestTemplates: { 'application/json': '{"statusCode":404}' },
      passthroughBehavior: 'when_no_templates',
      responses: {
        default: {
          statusCode: '404',
          responseParameters: { 'method.response.header.Access-Control-Allow-Origin': "'*'" },
          responseTemplates: { 'application/json': buildErrorBody(...unknownPath) },
        },
      },
    },
  },
};

/**
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
const gatewayResponses = {
  DEFAULT_4XX: buildGatewayResponse(400, 'InvalidPayload', 'The request is malformed.'),
  DEFAULT_5XX: buildGatewayResponse(500, 'InternalError', 'An internal problem prevented processing.'),
  // Among others, Lambda has rejected the invocation because the account has reached its concurrency.
  INTEGRATION_FAILURE: buildGatewayResponse(503, 'InternalError', 'The service is overloaded. Try again later.'),
  WAF_FILTERED: buildGatewayResponse(403, 'Forbidden', 'The request is rejected.'),
  INTEGRATION_TIMEOUT: buildGatewayResponse(504, 'InternalError', 'The service timed out.'),
  // An unknown method of a known path, without and with an `Authorization` header: no operation requires a signature.
  MISSING_AUTHENTICATION_TOKEN: buildGatewayResponse(...unknownPath),
  INVALID_SIGNATURE: buildGatewayResponse(...unknownPath),
  ACCESS_DENIED: buildGatewayResponse(...unknownPath),
  UNAUTHORIZED: buildGatewayResponse(...unknownPath),
  // Only mock integrations depend on the media type: `catchAll` for a body that is not JSON.
  UNSUPPORTED_MEDIA_TYPE: buildGatewayResponse(...unknownPath),
  REQUEST_TOO_LARGE: buildGatewayResponse(413, 'InvalidPayload', 'The request is too large.'),
  THROTTLED: buildGatewayResponse(429, 'ConnectionFailed', 'Too many requests.'),
  QUOTA_EXCEEDED: buildGatewayResponse(429, 'ConnectionFailed', 'Too many requests.'),
} as const;
