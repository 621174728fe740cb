import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { secondMs } from '../../foundation/time.ts';
import type { StoreContext, StoreResponse } from '../store-context.ts';
import { parseResponse, unavailableError } from './api-errors.ts';
import { getApiToken } from './api-token.ts';
import { hosts } from './app-store-server-api.ts';
import type { Environment } from './payloads.ts';
import { type AppStoreSettings, getApiKey } from './settings.ts';

/**
 * The result of a test notification.
 * - `noKey`: the settings do not contain an API key.
 * - `unauthorized`: the environment rejected the API key, or does not contain the app.
 * - `urlMissing`: App Store Connect does not have a notification URL for the environment.
 * - `attempted`: Apple posted the notification. `result` is `SUCCESS` or Apple's reason of the failure.
 * - `pending`: Apple has not posted the notification in time.
 */
export type TestResult =
  | { readonly kind: 'noKey' | 'unauthorized' | 'urlMissing' | 'pending' }
  | { readonly kind: 'attempted'; readonly result: string };

/** Apple delivered the test notification to its URL. */
export const isDelivered = (test: TestResult): boolean => test.kind === 'attempted' && test.result === 'SUCCESS';

const path = '/inApps/v1/notifications/test';
const TestToken = v.object({ testNotificationToken: v.string() });
const TestStatus = v.object({ sendAttempts: v.optional(v.array(v.object({ sendAttemptResult: v.string() })), []) });
const ApiError = v.object({ errorCode: v.number() });

/** ServerNotificationURLNotFound. */
const urlMissingCode = 4040007;

/** TestNotificationNotFound: the token has expired, or the first attempt has not been made. */
const notReadyCode = 4040008;
const firstPollMs = 300;
const maxPollMs = 2 * secondMs;

/**
 * Requests a test notification and waits for the first attempt to deliver it. Throws `ConnectionFailed` if the API is
 * unavailable.
 * @see https://developer.apple.com/documentation/appstoreserverapi/request-a-test-notification
 * @see https://developer.apple.com/documentation/appstoreserverapi/get-test-notification-status
 */
export async function requestTestNotification(
  settings: AppStoreSettings,
  { fetch, now }: Pick<StoreContext, 'fetch' | 'now'>,
  { environment, waitMs }: { readonly environment: Environment; readonly waitMs: number },
): Promise<TestResult> {
  const key = getApiKey(settings);
  if (!key) return { kind: 'noKey' };
  const headers = { authorization: `Bearer ${await getApiToken(key, settings.bundleId, now())}` };
  const url = hosts[environment] + path;
  const requested = await fetch(url, { method: 'POST', headers });
  if (requested.status === 401) return { kind: 'unauthorized' };
  if (hasErrorCode(requested, urlMissingCode)) return { kind: 'urlMissing' };
  if (requested.status !== 200) throw unavailableError(`HTTP ${requested.status}`);
  const { testNotificationToken } = parseResponse(TestToken, requested.text);
  const end = performance.now() + waitMs;
  for (let delay = firstPollMs; performance.now() + delay < end; delay = Math.min(delay * 2, maxPollMs)) {
    await sleep(delay);
    const result = toAttemptResult(await fetch(`${url}/${encodeURIComponent(testNotificationToken)}`, { headers }));
    if (result !== undefined) return { kind: 'attempted', result };
  }
  return { kind: 'pending' };
}

/** Returns Apple's result of the first attempt. Undefined before the attempt, or if the rate limit is exceeded. */
function toAttemptResult(response: StoreResponse): string | undefined {
  if (response.status === 429 || hasErrorCode(response, notReadyCode)) return undefined;
  if (response.status !== 200) throw unavailableError(`HTTP ${response.status}`);
  return parseResponse(TestStatus, response.text).sendAttempts[0]?.sendAttemptResult;
}

const hasErrorCode = ({ status, text }: StoreResponse, code: number): boolean =>
  status === 404 && parseResponse(ApiError, text).errorCode === code;
