import { setTimeout as sleep } from 'node:timers/promises';
import { platformTokens } from '../../lib/foundation/platform.ts';
import { secondMs } from '../../lib/foundation/time.ts';
import { createFinding, type Finding } from '../../lib/health/finding.ts';
import {
  isDelivered,
  requestTestNotification,
  type TestResult,
} from '../../lib/stores/app-store/request-test-notification.ts';
import { parseStoredSettings } from '../../lib/stores/app-store/settings.ts';
import type { StoreContext } from '../../lib/stores/store-context.ts';

interface TestOptions {
  readonly isSandbox: boolean;
  /** URL that App Store Connect must have. */
  readonly url: string;
  /** The service has received a test notification since the start. */
  readonly hasArrived: () => Promise<boolean>;
  readonly waitMs: number;
}

const pollIntervalMs = secondMs;

/**
 * Requests a test notification of the App Store and finds out whether it arrives, and the reason if not. Returns no
 * finding without an API key.
 */
export async function checkTestNotification(context: StoreContext, options: TestOptions): Promise<readonly Finding[]> {
  const { isSandbox, waitMs, hasArrived } = options;
  const end = performance.now() + waitMs;
  const environment = isSandbox ? 'Sandbox' : 'Production';
  const result = await requestTestNotification(parseStoredSettings(context.settings), context, { environment, waitMs });
  if (result.kind === 'noKey') return [];
  // Without an attempt, Apple's report can be late.
  if (isDelivered(result) || result.kind === 'pending')
    do {
      if (await hasArrived()) return [];
      await sleep(pollIntervalMs);
    } while (performance.now() < end);
  return [createUrlFinding(describe(result), context.appName, options)];
}

function describe(result: TestResult): string {
  if (result.kind === 'urlMissing') return 'App Store Connect has no notification URL';
  if (result.kind === 'unauthorized') return 'The App Store rejected the request of a test notification';
  if (isDelivered(result)) return 'The App Store delivered a test notification to another server';
  const reason = result.kind === 'attempted' ? result.result : 'no attempt yet';
  return `The App Store failed to deliver a test notification (${reason})`;
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
