import { ClaimcheckError } from './error.ts';

/** Values of environment variables. One that is not set throws `ClaimcheckError` with `InvalidOptions`. */
export interface ConnectionOptions {
  /** URL of the service, such as the stack output `ApiUrl`. */
  readonly url: string | undefined;
  readonly appName: string | undefined;
  /** Time limit of one attempt in milliseconds. Default: 5,000; a validation has six times as long. */
  readonly timeoutMs?: number;
}

export type Connection = Pick<ConnectionOptions, 'timeoutMs'> & { readonly url: string };

const maxDelayMs = 5_000;

/** Sends a request. An attempt that fails temporarily is repeated: each request of this package is idempotent. */
export async function send<T>(
  connection: Connection & { readonly authorization?: string; readonly attempts?: number },
  path: string,
  body?: object,
): Promise<T> {
  const { url, timeoutMs = 5_000, authorization, attempts = 3 } = connection;
  const response = await fetch(trimUrl(url) + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
    body: JSON.stringify(body) ?? null,
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(() => undefined);
  const result = await response?.json().catch(() => undefined);
  if (response?.ok && result) return result as T;
  // A response of the service has JSON. Others with 2xx are of a proxy, or incomplete.
  const failed = response?.ok ? undefined : response;
  const { code = 'Unreachable', message = `${url} did not respond as the service does.`, balance } = Object(result);
  const error = new ClaimcheckError(code, message, failed?.status, balance);
  const delayMs = Math.max(Number(failed?.headers.get('retry-after') ?? 0) * 1_000, 300 * (1 + Math.random()));
  if (!error.isTemporary || attempts <= 1 || !(delayMs <= maxDelayMs)) throw error;
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  return await send({ ...connection, attempts: attempts - 1 }, path, body);
}

/** Throws for an option that is missing, as one of a variable that is not set, or that is no URL. */
export function requireOptions<Name extends string>(
  options: object,
  names: readonly Name[],
): asserts options is Record<Name, string> {
  for (const name of names) {
    const value = Object(options)[name];
    if (typeof value !== 'string' || value === '') throw new ClaimcheckError('InvalidOptions', `${name} is missing.`);
    if (name === 'url' && !(/^https?:\/\//.test(value) && URL.canParse(value)))
      throw new ClaimcheckError('InvalidOptions', `url must start with https:// or http://, and a host: ${value}`);
  }
}

export const trimUrl = (url: string): string => url.replace(/\/+$/, '');
