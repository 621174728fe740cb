import { sign } from 'node:crypto';
import { getStoreKeys } from '../../testing/run-keys.ts';
import type { Clock } from '../clock.ts';
import { type RunningEmulator, startEmulator } from '../start-emulator.ts';
import type { StoreKeys } from '../store-keys.ts';

/** HTTP response of the control API or of a store. */
export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  readonly body: any;
}

/** Start time of tests: the last day of a month with 31 days. */
export const startTime = Date.parse('2027-01-31T10:00:00Z');

/** Creates a clock that changes only when it is set. */
export function createFixedClock(at = startTime): Clock {
  let now = at;
  return {
    now: () => now,
    set: (ms) => {
      now = ms;
    },
  };
}

/** Running emulator with a client of its control API and its stores. */
export interface EmulatorClient extends RunningEmulator {
  readonly control: (method: string, path: string, body?: object) => Promise<TestResponse>;
  readonly buy: (order?: object) => Promise<TestResponse>;
  readonly act: (id: string, action: string, details?: object) => Promise<TestResponse>;
  readonly advance: (period: string) => Promise<TestResponse>;
  readonly addFault: (fault: object) => Promise<TestResponse>;
  /** Calls the App Store Server API with a token of the developer. */
  readonly callServerApi: (path: string, host?: string) => Promise<TestResponse>;
  readonly call: (path: string, init?: RequestInit) => Promise<TestResponse>;
}

/**
 * Starts an emulator with a client. Defaults: a fixed clock at `startTime`, no state file, and the keys of the test
 * run.
 */
export async function startEmulatorClient(
  options: { readonly clock?: Clock; readonly stateFile?: string; readonly keys?: StoreKeys | undefined } = {},
): Promise<EmulatorClient> {
  const emulator = await startEmulator({ port: 0, clock: createFixedClock(), keys: getStoreKeys(), ...options });
  const call = async (path: string, init: RequestInit = {}): Promise<TestResponse> =>
    readResponse(await fetch(emulator.url + path, init));
  const control = (method: string, path: string, body?: object): Promise<TestResponse> =>
    call(path, { method, ...(body && { body: JSON.stringify(body) }) });
  return {
    ...emulator,
    call,
    control,
    buy: (order = {}) =>
      control('POST', '/control/purchases', {
        platform: 'store_a',
        productId: 'monthly',
        type: 'paid subscription',
        ...order,
      }),
    act: (id, action, details = {}) => control('POST', `/control/purchases/${id}/${action}`, details),
    advance: (period) => control('POST', '/control/clock', { advance: period }),
    addFault: (fault) => control('POST', '/control/faults', { platform: 'store_a', ...fault }),
    callServerApi: (path, host = 'api.storekit.apple.com') =>
      call(`/${host}${path}`, { headers: { authorization: `Bearer ${signDeveloperToken(emulator)}` } }),
  };
}

/** Signs a developer token for the App Store Server API. `changes` makes it invalid. */
export function signDeveloperToken(
  { clock, settings }: Pick<RunningEmulator, 'clock' | 'settings'>,
  changes: { readonly header?: object; readonly claims?: object; readonly privateKey?: string } = {},
): string {
  const { bundleId, issuerId, keyId, privateKey } = settings('store_a') as Record<string, string>;
  const seconds = Math.floor(clock.now() / 1000);
  const header = { alg: 'ES256', kid: keyId, typ: 'JWT', ...changes.header };
  const claims = { iss: issuerId, iat: seconds, exp: seconds + 300, aud: 'appstoreconnect-v1', bid: bundleId };
  const signed = [header, { ...claims, ...changes.claims }].map(base64url).join('.');
  const key = changes.privateKey ?? privateKey ?? '';
  return `${signed}.${sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

/** Decodes the payload of a JWS without verification. */
// biome-ignore lint/suspicious/noExplicitAny: tests read payloads of every shape.
export const decodePayload = (jws: string): any =>
  JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString('utf8'));

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

async function readResponse(response: Response): Promise<TestResponse> {
  const { status, headers } = response;
  const text = await response.text();
  const isJson = headers.get('content-type')?.startsWith('application/json');
  return { status, headers, body: isJson ? JSON.parse(text) : text };
}
