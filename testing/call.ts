import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import * as v from 'valibot';
import type { Contract } from '../lib/api/contract.ts';
import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { minuteMs } from '../lib/foundation/time.ts';
import { runWithWriteLimits } from './limit-writes.ts';
import { buildProxyEvent } from './proxy-event.ts';

export interface CallOptions {
  /** Replaces the path of the contract, for example to call an alias. */
  readonly path?: string;
  /** Values for the parameters of the path; a missing one becomes `anything`. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a string verbatim. */
  readonly body?: object | string;
  /** Address of the client. */
  readonly sourceIp?: string;
}

export interface CallResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  readonly body: any;
}

/** Builds the `Authorization: Basic` header for an app and one of its keys. */
export const buildBasicAuth = (appName: string, key: string) => ({
  authorization: `Basic ${Buffer.from(`${appName}:${key}`).toString('base64')}`,
});

/** More than the 29 s of API Gateway: a handler rejects a call without time, and a busy machine must not cause that. */
const remainingTimeMs = 10 * minuteMs;

/**
 * Calls the Lambda handler of a contract as API Gateway does. Throws if a response with status 200 does not match the
 * response schema of the contract, and if the handler writes an item that its policy denies.
 */
export async function callEndpoint(contract: Contract, options: CallOptions): Promise<CallResult> {
  const { handler } = (await import(`../functions/${contract.area}/${contract.id}.ts`)) as {
    handler: (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;
  };
  const context = { getRemainingTimeInMillis: () => remainingTimeMs } as Partial<Context> as Context;
  const result = await runWithWriteLimits(
    contract,
    async () => await handler(toProxyEvent(contract, options), context),
  );
  const body = JSON.parse(result.body) as unknown;
  if (result.statusCode === 200) v.parse(contract.response, body);
  return { status: result.statusCode, headers: result.headers ?? {}, body };
}

function toProxyEvent(
  contract: Contract,
  { body, headers = {}, params = {}, query, path, sourceIp }: CallOptions,
): APIGatewayProxyEvent {
  const contractPath = contract.path.replace(/:(\w+)/g, (_match, name: string) =>
    encodeURIComponent(params[name] ?? 'anything'),
  );
  return buildProxyEvent({
    httpMethod: contract.method,
    path: path ?? contractPath,
    headers,
    ...(sourceIp !== undefined && { sourceIp }),
    queryStringParameters: query ?? null,
    body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
  });
}

/** Calls a contract with the secret key of an app. */
export const callWithSecretKey = async (
  contract: Contract,
  { appName, secretKey }: Pick<IssuedApiKeys, 'appName' | 'secretKey'>,
  options: CallOptions = {},
): Promise<CallResult> =>
  await callEndpoint(contract, { ...options, headers: { ...buildBasicAuth(appName, secretKey), ...options.headers } });

/** Calls a contract with the public key of an app. */
export const callWithPublicKey = async (
  contract: Contract,
  { appName, publicKey }: Pick<IssuedApiKeys, 'appName' | 'publicKey'>,
  options: CallOptions = {},
): Promise<CallResult> =>
  await callEndpoint(contract, { ...options, headers: { ...buildBasicAuth(appName, publicKey), ...options.headers } });
