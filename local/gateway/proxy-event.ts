import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { RouteMatch } from './routes.ts';

/** An HTTP request with its raw headers and body. */
export interface HttpRequest {
  readonly method: string;
  /** Percent-encoded, without the query. */
  readonly path: string;
  readonly query: string;
  /** Alternating names and values, as sent. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly sourceIp: string;
}

const stage = 'local';

/** Builds the Lambda proxy event of a REST API: payload version 1.0, with the path still percent-encoded. */
export function toProxyEvent(
  request: HttpRequest,
  { resource, pathParameters }: RouteMatch,
  { requestId, now }: { readonly requestId: string; readonly now: number },
): APIGatewayProxyEvent {
  const { method, path, sourceIp } = request;
  const headers = headerPairs(request, requestId);
  const query = [...new URLSearchParams(request.query)];
  const userAgent = headers.find(([name]) => name.toLowerCase() === 'user-agent')?.[1] ?? null;
  return {
    resource,
    path,
    httpMethod: method,
    headers: Object.fromEntries(headers),
    multiValueHeaders: groupValues(headers),
    queryStringParameters: query.length > 0 ? Object.fromEntries(query) : null,
    multiValueQueryStringParameters: query.length > 0 ? groupValues(query) : null,
    pathParameters: Object.keys(pathParameters).length > 0 ? { ...pathParameters } : null,
    stageVariables: null,
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      authorizer: null,
      httpMethod: method,
      identity: toIdentity(sourceIp, userAgent),
      // Like a custom domain, this gateway does not have a stage in its URL.
      domainName: headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? 'localhost',
      path,
      protocol: 'HTTP/1.1',
      requestId,
      requestTimeEpoch: now,
      resourceId: resource,
      resourcePath: resource,
      stage,
    },
    // The API does not have binary media types, so every body is text.
    body: request.body.length > 0 ? request.body.toString('utf8') : null,
    isBase64Encoded: false,
  };
}

type Pair = readonly [name: string, value: string];

function headerPairs({ rawHeaders, sourceIp }: HttpRequest, requestId: string): Pair[] {
  const pairs = rawHeaders.flatMap((name, index): Pair[] =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? '']] : [],
  );
  return [
    ...pairs,
    ['X-Amzn-Trace-Id', `Root=1-${requestId}`],
    ['X-Forwarded-For', sourceIp],
    ['X-Forwarded-Port', '443'],
    ['X-Forwarded-Proto', 'http'],
  ];
}

function groupValues(pairs: readonly Pair[]): Record<string, string[]> {
  const lists = new Map<string, string[]>();
  for (const [name, value] of pairs) lists.set(name, [...(lists.get(name) ?? []), value]);
  return Object.fromEntries(lists);
}

const toIdentity = (
  sourceIp: string,
  userAgent: string | null,
): APIGatewayProxyEvent['requestContext']['identity'] => ({
  accessKey: null,
  accountId: null,
  apiKey: null,
  apiKeyId: null,
  caller: null,
  clientCert: null,
  cognitoAuthenticationProvider: null,
  cognitoAuthenticationType: null,
  cognitoIdentityId: null,
  cognitoIdentityPoolId: null,
  principalOrgId: null,
  sourceIp,
  user: null,
  userAgent,
  userArn: null,
});
