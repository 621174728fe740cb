import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';

type ProxyEventInput = Pick<APIGatewayProxyEvent, 'httpMethod' | 'path'> &
  Partial<Pick<APIGatewayProxyEvent, 'body' | 'queryStringParameters'>> & {
    readonly headers?: Readonly<Record<string, string | undefined>>;
    /** Address of the client. */
    readonly sourceIp?: string;
  };

/** Builds the event of a Lambda proxy integration, with the fields that the service reads. */
export const buildProxyEvent = ({
  headers = {},
  sourceIp = '127.0.0.1',
  ...fields
}: ProxyEventInput): APIGatewayProxyEvent =>
  ({
    queryStringParameters: null,
    body: null,
    isBase64Encoded: false,
    ...fields,
    headers: { ...headers },
    requestContext: { identity: { sourceIp }, domainName: 'api.example.com', path: `/live${fields.path}` },
  }) as Partial<APIGatewayProxyEvent> as APIGatewayProxyEvent;

/** Converts an HTTP request into the event that API Gateway sends for it. */
export async function toProxyEvent(request: IncomingMessage): Promise<APIGatewayProxyEvent> {
  const { pathname, searchParams } = new URL(`http://127.0.0.1${request.url}`);
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  return buildProxyEvent({
    httpMethod: request.method ?? 'POST',
    path: pathname,
    headers: Object.fromEntries(headers),
    queryStringParameters: Object.fromEntries(searchParams),
    body: Buffer.concat(await request.toArray()).toString('utf8'),
  });
}
