import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { createFinding, type Finding } from '../../lib/health/finding.ts';
import { parseJson } from '../../lib/shared/parse.ts';
import { platformTokens } from '../../lib/shared/platform.ts';
import { secondMs } from '../../lib/shared/time.ts';
import { createApiToken } from '../../lib/stores/app-store/api-token.ts';
import { getApiKey, parseStoredSettings } from '../../lib/stores/app-store/settings.ts';
import type { StoreContext } from '../../lib/stores/store-context.ts';

interface TestOptions {
  readonly isSandbox: boolean;
  /** URL that App Store Connect must have. */
  readonly url: string;
  /** Whether the service has received a test notification since the start. */
  readonly hasArrived: () => Promise<boolean>;
  readonly waitMs: number;
}

const TestToken = v.object({ testNotificationToken: v.string() });
const TestStatus = v.object({ sendAttempts: v.array(v.object({ sendAttemptResult: v.string() })) });
const ApiError = v.object({ errorCode: v.number() });

/** No App Store Server Notification URL found. */
const urlMissingCode = 4040007;
const pollIntervalMs = secondMs;

/**
 * Requests a test notification of the App Store and finds out whether it arrives, and the reason if not. Returns no
 * finding without an API key.
 * @see https://developer.apple.com/documentation/appstoreserverapi/request-a-test-notification
 */
export async function checkTestNotification(context: StoreContext, options: TestOptions): Promise<readonly Finding[]> {
  const settings = parseStoredSettings(context.settings);
  const key = getApiKey(settings);
  if (!key) return [];
  const host = options.isSandbox ? 'https://api.storekit-sandbox.apple.com' : 'https://api.storekit.apple.com';
  const authorization = `Bearer ${await createApiToken(key, settings.bundleId, context.now())}`;
  const path = '/inApps/v1/notifications/test';
  const requested = await context.fetch(host + path, { method: 'POST', headers: { authorization } });
  const toFinding = (problem: string) => [createUrlFinding(problem, context.appName, options)];
  if (requested.status >= 400) {
    const error = v.safeParse(v.pipe(v.string(), v.parseJson(), ApiError), requested.text);
    return error.success && error.output.errorCode === urlMissingCode
      ? toFinding('App Store Connect has no notification URL')
      : toFinding(`The App Store rejected the request of a test notification with HTTP ${requested.status}`);
  }
  const { testNotificationToken } = parseJson(TestToken, requested.text, 'ConnectionFailed');
  let result: string | undefined;
  for (let waited = 0; waited <= options.waitMs; waited += pollIntervalMs) {
    if (await options.hasArrived()) return [];
    const status = await context.fetch(`${host}${path}/${testNotificationToken}`, { headers: { authorization } });
    if (status.status === 200)
      result = parseJson(TestStatus, status.text, 'ConnectionFailed').sendAttempts[0]?.sendAttemptResult;
    if (result !== undefined && result !== 'SUCCESS') break;
    await sleep(pollIntervalMs);
  }
  if (result === 'SUCCESS') return toFinding('The App Store delivered a test notification to another server');
  return toFinding(`The App Store failed to deliver a test notification (${result ?? 'no attempt yet'})`);
}

const createUrlFinding = (problem: string, app: string, { isSandbox, url }: TestOptions): Finding =>
  createFinding(
    'notifications-never-received',
    {
      problem: `${problem}.`,
      cure: `App Store Connect, App Information, App Store Server Notifications: enter ${url} as the ${isSandbox ? 'sandbox' : 'production'} server URL, version 2.`,
    },
    { app, platform: platformTokens.appStore },
  );
