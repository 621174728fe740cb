import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { APIGatewayProxyEvent, SQSEvent } from 'aws-lambda';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { handleBatch } from '../../lib/foundation/handle-batch.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import type { Service } from '../../lib/foundation/service.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { listRepresentativePurchases } from '../../lib/purchases/owned-purchase-table.ts';
import { listTransactionsOfPurchases } from '../../lib/purchases/purchase-table.ts';
import { processNotification } from '../../lib/store-notifications/process-notification.ts';
import { QueuedNotification } from '../../lib/store-notifications/queued-notification.ts';
import { receiveNotification } from '../../lib/store-notifications/receive-notification.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { type FailingCalls, type FailureMode, failureModes, interceptCalls } from '../../testing/failing-calls.ts';
import { createUniqueName } from '../../testing/given.ts';
import { type NotificationLog, startNotificationLog } from '../../testing/notification-log.ts';
import { checkSample } from '../../testing/sample.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { waitFor } from '../../testing/wait-for.ts';

let service: TestService;
let notificationLog: NotificationLog;
let calls: FailingCalls;
let depsWithFaults: Service;
const queue: string[] = [];
beforeAll(async () => {
  service = await startTestService();
  notificationLog = await startNotificationLog();
  calls = interceptCalls();
  depsWithFaults = {
    ...getService(),
    notificationQueue: {
      send: async (messages) =>
        await calls.run(async () => void queue.push(...messages.map((message) => JSON.stringify(message)))),
    },
  };
  // The service logs hundreds of failures.
  for (const method of ['error', 'warn'] as const) jest.spyOn(console, method).mockImplementation(() => {});
});
afterAll(async () => {
  jest.restoreAllMocks();
  calls?.restore();
  await notificationLog?.close();
  await service?.close();
});

const maxAttempts = 4;

/** Position and kind of the network failure of a run. */
interface Fault {
  /** Number of the failing call, from 1. */
  readonly callNumber: number;
  readonly mode: FailureMode;
}

interface FaultRun {
  /** Network calls made before the first retry. */
  readonly callCount: number;
}

/**
 * Runs the steps in order, each until it succeeds. A failed step ends the fault: its retry runs in a new process.
 * Each step returns whether it succeeded.
 */
async function runWithFault(fault: Fault | undefined, steps: readonly (() => Promise<boolean>)[]): Promise<FaultRun> {
  let callCount = 0;
  calls.failAt(fault?.callNumber, fault?.mode);
  for (const step of steps) {
    for (let attempt = 1; !(await step()); attempt++) {
      if (attempt === maxAttempts) throw new Error(`The step failed ${maxAttempts} times.`);
      callCount ||= calls.count();
      calls.failAt();
    }
  }
  callCount ||= calls.count();
  calls.failAt();
  return { callCount };
}

/** Calls that fail in a sample of the calls of a scenario. */
const sampleSize = 2;

/** Runs `live` once without a fault and then with a fault at one of its calls, for a random sample of the calls. */
async function failEachCall(mode: FailureMode, live: (fault?: Fault) => Promise<FaultRun>): Promise<void> {
  const { callCount } = await live();
  expect(callCount).toBeGreaterThan(5);
  let reachable = callCount;
  const callNumbers = Array.from({ length: callCount }, (_, index) => index + 1);
  await checkSample(callNumbers, sampleSize, async (callNumber) => {
    for (;;) {
      const failing = Math.min(callNumber, reachable);
      const run = await live({ callNumber: failing, mode });
      if (run.callCount >= failing) return;
      // This run had fewer calls than the first one, for example because it found a token in a cache.
      reachable = run.callCount;
    }
  });
  expect(reachable).toBeGreaterThan(5);
}

async function createAppWithNotifications(platform: Platform): Promise<IssuedApiKeys> {
  const keys = await service.createApp([platform]);
  const url = `${notificationLog.url}/v3/webhook/${platform}/${keys.appName}`;
  const init = { method: 'PUT', body: JSON.stringify({ url }) };
  await fetch(`${service.emulatorUrl}/control/notifications/${platform}`, init);
  return keys;
}

/** Waits until the emulated stores have posted all notifications. Returns the new ones. */
async function takeNotifications(): Promise<readonly APIGatewayProxyEvent[]> {
  await service.waitUntilNotified();
  return await notificationLog.takeNew();
}

/** Returns the steps that receive store notifications and process the queue until it is empty. */
const createSteps = (notifications: readonly APIGatewayProxyEvent[]) => [
  ...notifications.map(
    (notification) => async () => (await receiveNotification(depsWithFaults, notification)).statusCode === 200,
  ),
  processQueue,
];

/** Processes the queued messages. Returns false after the first failure, which leaves the message on the queue. */
async function processQueue(): Promise<boolean> {
  for (;;) {
    const [body] = queue;
    if (body === undefined) return true;
    const { batchItemFailures } = await handleBatch(
      depsWithFaults,
      { Records: [{ messageId: '1', body }] } as SQSEvent,
      {
        worker: 'process-notification',
        schema: QueuedNotification,
        handle: processNotification,
      },
    );
    if (batchItemFailures.length > 0) return false;
    queue.shift();
  }
}

/** Each test repeats a life for each of its network calls. */
const timeoutMs = 1_800_000;

describe.each([
  ['store_a', 'premium'],
  ['store_b', 'premium'],
  ['processor_a', 'basic'],
] as const)('notification of a renewal (%s)', (platform, productId) => {
  let keys: IssuedApiKeys;
  beforeAll(async () => {
    keys = await createAppWithNotifications(platform);
  });

  /** Renews a validated subscription at the store and returns the notifications of the renewal. */
  async function renewSubscription() {
    const order = { platform, productId, type: 'paid subscription', applicationUsername: createUniqueName('user') };
    const { id, validate } = await service.callControl('/purchases', order);
    const { body } = await service.validate(keys, validate);
    await takeNotifications();
    await service.callControl(`/purchases/${id}/renew`, {});
    return {
      purchaseId: `${platform}:${body.data.collection[0].purchaseId}`,
      notifications: await takeNotifications(),
    };
  }

  async function expectRenewedOnce(purchaseId: string): Promise<void> {
    const { body } = await callEndpoint(getPurchase, {
      headers: buildBasicAuth(keys.appName, keys.secretKey),
      params: { purchaseId },
      query: { include_notifications: 'true' },
    });
    expect(body).toMatchObject({ isExpired: false });
    expect(body.notifications.map(({ reason }: { reason: string }) => reason)).toEqual(['PURCHASED', 'RENEWED']);
    expect(await listTransactionsOfPurchases(getService(), keys.appName, [purchaseId])).toHaveLength(2);
  }

  it.each(failureModes)(
    'records the renewal once if any network call fails: %s',
    async (mode) => {
      await failEachCall(mode, async (fault) => {
        const { purchaseId, notifications } = await renewSubscription();
        const run = await runWithFault(fault, createSteps(notifications));
        // If its response was lost, the store and the queue deliver the notification again.
        await runWithFault(undefined, createSteps(notifications));
        await expectRenewedOnce(purchaseId);
        return run;
      });
    },
    timeoutMs,
  );
});

describe('POST /v1/validate with retries of the client', () => {
  let keys: IssuedApiKeys;
  beforeAll(async () => {
    keys = await createAppWithNotifications('store_b');
  });

  const buy = async (productId: string, applicationUsername: string) =>
    await service.callControl('/purchases', {
      platform: 'store_b',
      productId,
      type: 'consumable',
      applicationUsername,
    });

  /** Validates until the store responds in time. */
  const validateAgain = async (request: object) =>
    await waitFor(
      'a validation',
      async () => (await service.validate(keys, request)).body,
      ({ ok }) => ok,
    );

  it.each(failureModes)(
    'claims all purchases of the customer if any network call fails: %s',
    async (mode) => {
      await failEachCall(mode, async (fault) => {
        const user = createUniqueName('user');
        // A purchase that the store reports before the customer's first validation.
        const unclaimed = await buy('coins', user);
        await runWithFault(undefined, createSteps(await takeNotifications()));
        const validated = await buy('gems', user);
        await takeNotifications();
        const run = await runWithFault(fault, [async () => (await service.validate(keys, validated.validate)).body.ok]);
        await validateAgain(validated.validate);
        const purchases = await listRepresentativePurchases(getService(), keys.appName, user);
        expect(purchases.map(({ purchaseId }) => purchaseId).sort()).toEqual(
          [`store_b:${unclaimed.id}`, `store_b:${validated.id}`].sort(),
        );
        return run;
      });
    },
    timeoutMs,
  );
});
