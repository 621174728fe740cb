import { gzipSync } from 'node:zlib';
import * as v from 'valibot';
import type { GatewayDocument, Integration } from './document.ts';

export interface HttpResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** Gateway response types with the status that applies if the API definition sets none. */
const defaultStatuses = {
  DEFAULT_5XX: 502,
  INTEGRATION_TIMEOUT: 504,
  MISSING_AUTHENTICATION_TOKEN: 403,
  REQUEST_TOO_LARGE: 413,
} as const;

/** Builds a gateway response from the API definition. */
export function toGatewayResponse(document: GatewayDocument, type: keyof typeof defaultStatuses): HttpResponse {
  const responses = document['x-amazon-apigateway-gateway-responses'];
  const response = responses[type] ?? responses[type === 'DEFAULT_5XX' ? 'DEFAULT_5XX' : 'DEFAULT_4XX'];
  return {
    status: response?.statusCode ?? defaultStatuses[type],
    headers: [
      ['content-type', 'application/json'],
      ...toHeaders(response?.responseParameters ?? {}, 'gatewayresponse.header.'),
    ],
    body: Buffer.from(response?.responseTemplates['application/json'] ?? '{}'),
  };
}

/** Builds the response of a mock integration, for example to a preflight request. */
export function toMockResponse({ responses }: Integration & { type: 'mock' }): HttpResponse {
  const { statusCode, responseParameters, responseTemplates } = responses.default;
  const headers = toHeaders(responseParameters, 'method.response.header.');
  return {
    status: statusCode,
    headers: responseTemplates ? [['content-type', 'application/json'], ...headers] : headers,
    body: Buffer.from(responseTemplates?.['application/json'] ?? ''),
  };
}

/** Removes the prefix of parameter names and the quotes of literal values. */
const toHeaders = (parameters: Readonly<Record<string, string>>, prefix: string) =>
  Object.entries(parameters).map(([name, value]) => [name.replace(prefix, ''), value.replace(/^'|'$/g, '')] as const);

const Value = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String));
const ProxyResult = v.object({
  statusCode: v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(599)),
  headers: v.nullish(v.record(v.string(), Value), {}),
  multiValueHeaders: v.nullish(v.record(v.string(), v.array(Value)), {}),
  body: v.nullish(v.string(), ''),
  isBase64Encoded: v.nullish(v.boolean(), false),
});

/** Converts a Lambda proxy result. Returns undefined if the result is malformed. */
export function toProxyResponse(result: string): HttpResponse | undefined {
  const parsed = v.safeParse(ProxyResult, JSON.parse(result));
  if (!parsed.success) return undefined;
  const { statusCode, headers, multiValueHeaders, body, isBase64Encoded } = parsed.output;
  const several = Object.entries(multiValueHeaders).flatMap(([name, values]) =>
    values.map((value) => [name, value] as const),
  );
  const single = Object.entries(headers).filter(([name]) => !(name in multiValueHeaders));
  return {
    status: statusCode,
    headers: [...single, ...several],
    body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
  };
}

/**
 * Compresses a response that has at least the minimum size of the API definition, if gzip is the client's preferred
 * encoding.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-enable-compression.html
 */
export function compressResponse(
  response: HttpResponse,
  { acceptEncoding, minBytes }: { readonly acceptEncoding: string; readonly minBytes: number | undefined },
): HttpResponse {
  const isEncoded = response.headers.some(([name]) => name.toLowerCase() === 'content-encoding');
  if (minBytes === undefined || isEncoded || response.body.length < minBytes || !prefersGzip(acceptEncoding))
    return response;
  return { ...response, headers: [...response.headers, ['content-encoding', 'gzip']], body: gzipSync(response.body) };
}

/** Gzip has the highest priority, or is the first of several with the same priority. */
function prefersGzip(acceptEncoding: string): boolean {
  const encodings = acceptEncoding.split(',').map((entry) => {
    const [name = '', quality] = entry.trim().split(/\s*;\s*q=/);
    return { name: name.toLowerCase(), quality: quality === undefined ? 1 : Number(quality) };
  });
  const [preferred] = encodings.sort((a, b) => b.quality - a.quality);
  return preferred?.name === 'gzip' && preferred.quality > 0;
}
