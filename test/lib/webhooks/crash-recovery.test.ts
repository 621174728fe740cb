import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayMs, minuteMs } from '../../../lib/foundation/time.ts';
import type { RecordPurchaseInput } from '../../../lib/purchases/prepare-update.ts';
import { createObservation, startDate } from '../../../testing/given.ts';
import { checkSample, sampleRuns } from '../../../testing/sample.ts';
import { createWebhookHarness, listDeliveries, type WrapCall } from '../../../testing/webhook-harness.ts';
import { useApplicationServer } from './application-server-fixture.ts';

const getServer = useApplicationServer();
// The workers log hundreds of failures.
const originalConsoleError = console.error;
beforeAll(() => {
  console.error = () => {};
});
afterAll(() => {
  console.error = originalConsoleError;
});

/** The calls with an effect. A crash after another call is equivalent to a crash before the next call. */
const callsWithEffect = new Set(['update', 'send', 'post']);

type CrashTime = 'before' | 'after';

/** When the n-th call crashes, counted from 1. */
type Crashes = ReadonlyMap<number, CrashTime>;

interface CrashInjector {
  readonly around: WrapCall;
  /** Names of the calls while the injector is enabled. */
  readonly calls: string[];
  isEnabled: boolean;
}

/** Throws before or after the given calls, like a function that is terminated there. */
function createCrashInjector(crashes: Crashes): CrashInjector {
  const calls: string[] = [];
  const injector: CrashInjector = {
    calls,
    isEnabled: false,
    around: async (name, call) => {
      const crashTime = injector.isEnabled ? crashes.get(calls.push(name)) : undefined;
      if (crashTime === 'before') throw new Error(`crashed before ${name}`);
      const result = await call();
      if (crashTime === 'after') throw new Error(`crashed after ${name}`);
      return result;
    },
  };
  return injector;
}

const buildValidation = (username: string): RecordPurchaseInput => ({
  trigger: 'validation',
  observation: createObservation(),
  claim: { username, source: 'validation' },
  strategy: 'all',
  now: startDate,
});

/**
 * Delivers the webhooks of two versions of a purchase: two announcements for ann, then one for ann and bob. The server
 * rejects the first attempt of each webhook. Returns the names of the calls.
 */
async function deliverWithCrashes(crashes: Crashes): Promise<string[]> {
  const server = getServer();
  server.requests.length = 0;
  const rejectedIds = new Set<unknown>();
  server.respondWith(({ headers }) => {
    const isRetry = rejectedIds.has(headers['webhook-id']);
    rejectedIds.add(headers['webhook-id']);
    return { status: isRetry ? 200 : 500 };
  });
  const injector = createCrashInjector(crashes);
  const harness = await createWebhookHarness({ urls: [server.url], around: injector.around });
  const records = [
    await harness.recordUpdate('store_a:1', buildValidation('ann')),
    await harness.recordUpdate('store_a:1', buildValidation('bob')),
  ];
  injector.isEnabled = true;
  await harness.fanOut(records);
  await harness.workUntil(startDate + 4 * dayMs);
  injector.isEnabled = false;
  expectAllAnnounced();
  expect(await listDeliveries(harness.service, harness.keys.appName, undefined)).toEqual([]);
  return injector.calls;
}

/** Expects one webhook id for each announcement and recipient. Attempts can be repeated with the same id. */
function expectAllAnnounced(): void {
  const attempts = getServer().requests.map(({ headers, body }) => {
    const { applicationUsername, notification } = JSON.parse(body);
    return `${headers['webhook-id']} ${applicationUsername} ${notification.id} ${notification.reason}`;
  });
  const webhooks = [...new Set(attempts)].map((line) => line.split(' '));
  expect(new Set(webhooks.map(([webhookId]) => webhookId)).size).toBe(webhooks.length);
  expect(webhooks.map(([, username, , reason]) => `${username} ${reason}`).sort()).toEqual([
    'ann PURCHASED',
    'ann RECEIPT_VALIDATED',
    'bob RECEIPT_VALIDATED',
  ]);
}

describe('webhook delivery', () => {
  it(
    'announces everything under one id after a crash before or after any call',
    async () => {
      const calls = await deliverWithCrashes(new Map());
      expect(calls.length).toBeGreaterThan(50);
      const crashes = calls.flatMap((name, index): [number, CrashTime][] => [
        [index + 1, 'before'],
        ...(callsWithEffect.has(name) ? [[index + 1, 'after'] satisfies [number, CrashTime]] : []),
      ]);
      await checkSample(crashes, 8, async (crash) => void (await deliverWithCrashes(new Map([crash]))));
    },
    30 * minuteMs,
  );

  it(
    'announces everything under one id after many crashes',
    async () => {
      const arbitraryCrash = fc.tuple(fc.integer({ min: 1, max: 120 }), fc.constantFrom<CrashTime>('before', 'after'));
      const arbitraryCrashes = fc.array(arbitraryCrash, { minLength: 15, maxLength: 15 });
      const property = fc.asyncProperty(
        arbitraryCrashes,
        async (crashes) => void (await deliverWithCrashes(new Map(crashes))),
      );
      await fc.assert(property, sampleRuns({ sample: 3, full: 40 }));
    },
    30 * minuteMs,
  );
});
