import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { RecordPurchaseInput } from '../../../lib/purchases/record-purchase.ts';
import { listDeliveries } from '../../../lib/webhooks/manage-webhooks.ts';
import { type ApplicationServer, startApplicationServer } from '../../../testing/application-server.ts';
import { createObservation, dayMs, startDate } from '../../../testing/given.ts';
import { createWebhookHarness, type WrapCall } from '../../../testing/webhook-harness.ts';

let server: ApplicationServer;
// The workers log each of the hundreds of failures.
const logged = console.error;
beforeAll(async () => {
  console.error = () => {};
  server = await startApplicationServer();
});
afterAll(async () => {
  console.error = logged;
  await server.close();
});
beforeEach(() => {
  server.requests.length = 0;
});

const effects = new Set(['update', 'send', 'post']);

type When = 'before' | 'after';

interface Failing {
  readonly around: WrapCall;
  /** The names of the calls while it is on. */
  readonly calls: string[];
  on: boolean;
}

/** Fails at these calls, before they have had an effect or after it, as a function that is killed there. */
function failingAt(numbers: ReadonlyMap<number, When>): Failing {
  const calls: string[] = [];
  const failing: Failing = {
    calls,
    on: false,
    around: async (name, call) => {
      const when = failing.on ? numbers.get(calls.push(name)) : undefined;
      if (when === 'before') throw new Error(`killed before ${name}`);
      const result = await call();
      if (when === 'after') throw new Error(`killed after ${name}`);
      return result;
    },
  };
  return failing;
}

const claimed = (username: string): RecordPurchaseInput => ({
  trigger: 'validation',
  observation: createObservation(),
  claim: { username, source: 'validation' },
  strategy: 'all',
  now: startDate,
});

/**
 * Two versions of a purchase: the first tells ann of two things, the second tells ann and bob of one. The server refuses
 * each webhook once. Returns the names of the calls that were made.
 */
async function runWith(faults: ReadonlyMap<number, When>): Promise<string[]> {
  server.requests.length = 0;
  const refused = new Set<unknown>();
  server.respondWith(({ headers }) => {
    const again = refused.has(headers['webhook-id']);
    refused.add(headers['webhook-id']);
    return { status: again ? 200 : 500 };
  });
  const failing = failingAt(faults);
  const world = await createWebhookHarness({ urls: [server.url], around: failing.around });
  const first = await world.recordUpdate('store_a:1', claimed('ann'));
  const second = await world.recordUpdate('store_a:1', claimed('bob'));
  failing.on = true;
  await world.fanOut([first, second]);
  await world.workUntil(startDate + 4 * dayMs);
  failing.on = false;
  await expectAllTold();
  expect(await listDeliveries(world.keys.appName, undefined, world.deps)).toEqual([]);
  return failing.calls;
}

/** Each user was told of each thing, under one id each. */
async function expectAllTold(): Promise<void> {
  const told = server.requests.map(({ headers, body }) => {
    const { applicationUsername, notification } = JSON.parse(body);
    return `${headers['webhook-id']} ${applicationUsername} ${notification.id} ${notification.reason}`;
  });
  const webhooks = [...new Set(told)].map((line) => line.split(' '));
  expect(new Set(webhooks.map(([webhookId]) => webhookId)).size).toBe(webhooks.length);
  expect(webhooks.map(([, username, , reason]) => `${username} ${reason}`).sort()).toEqual([
    'ann PURCHASED',
    'ann RECEIPT_VALIDATED',
    'ann RECEIPT_VALIDATED',
    'bob RECEIPT_VALIDATED',
  ]);
}

describe('webhooks survive', () => {
  it('a crash before or after every single call: nothing is lost, and nothing doubled but under its own id', async () => {
    const calls = await runWith(new Map());
    expect(calls.length).toBeGreaterThan(50);
    for (const [index, name] of calls.entries()) {
      await runWith(new Map([[index + 1, 'before']]));
      // After a read is before the next call.
      if (effects.has(name)) await runWith(new Map([[index + 1, 'after']]));
    }
  }, 180_000);

  it('many crashes in one run', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const faults = Array.from({ length: 25 }, (_, index): [number, When] => [
        1 + ((seed * 7919 + index * 104_729) % 120),
        (seed + index) % 2 === 0 ? 'before' : 'after',
      ]);
      await runWith(new Map(faults));
    }
  }, 120_000);
});
