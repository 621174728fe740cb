import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import * as v from 'valibot';
import type { Contract } from '../lib/api/contract.ts';

export interface CallOptions {
  readonly path?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a text as it is. */
  readonly body?: object | string;
}

export interface CallResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any;
}

/** `Authorization: Basic` of an application and one of its keys. */
export const buildBasicAuth = (appName: string, key: string) => ({
  authorization: `Basic ${Buffer.from(`${appName}:${key}`).toString('base64')}`,
});

/** Calls the real handler of a contract as API Gateway does; an answer of 200 must fit the contract's response schema. */
export async function callEndpoint(contract: Contract, wanted: CallOptions): Promise<CallResult> {
  const { handler } = (await import(`../functions/${contract.area}/${contract.id}.ts`)) as {
    handler: (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;
  };
  const result = await handler(toProxyEvent(contract, wanted), { getRemainingTimeInMillis: () => 29_000 } as Context);
  const body = JSON.parse(result.body) as unknown;
  if (result.statusCode === 200 && contract.errorFormat !== 'client-token') v.parse(contract.response, body);
  return { status: result.statusCode, headers: result.headers ?? {}, body };
}

function toProxyEvent(
  { method, path }: Contract,
  { body, headers = {}, params = {}, query, ...wanted }: CallOptions,
): APIGatewayProxyEvent {
  const encoded = path.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(params[name] ?? 'anything'));
  const event = {
    httpMethod: method,
    path: wanted.path ?? encoded,
    headers,
    queryStringParameters: query ?? null,
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    isBase64Encoded: false,
  };
  return event as unknown as APIGatewayProxyEvent;
}
