import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { APIGatewayProxyEvent, SQSEvent } from 'aws-lambda';
import { handler as receive } from '../../functions/notifications/receive-notification.ts';
import { handler as processNotifications } from '../../functions/workers/process-notification.ts';
import { getPurchase } from '../../lib/api/purchases.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { deps } from '../../lib/deps.ts';
import type { Platform } from '../../lib/shared/platform.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { type FailingCalls, type FailureMode, failureModes, interceptCalls } from '../../testing/failing-calls.ts';
import { createUniqueName } from '../../testing/given.ts';
import { type NotificationLog, startNotificationLog } from '../../testing/notification-log.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
const queued: string[] = [];
let posted: NotificationLog;
let calls: FailingCalls;
// The functions log each of the hundreds of failures.
const logged = { error: console.error, warn: console.warn };
beforeAll(async () => {
  service = await startTestService();
  posted = await startNotificationLog();
  calls = interceptCalls();
  const notificationsQueue = {
    send: async (messages: readonly object[]) =>
      await calls.run(async () => void queued.push(...messages.map((message) => JSON.stringify(message)))),
  };
  Object.assign(deps(), { notificationsQueue });
  Object.assign(console, { error: () => {}, warn: () => {} });
});
afterAll(async () => {
  Object.assign(console, logged);
  calls.restore();
  await posted.close();
  await service.close();
});

/** A subscription that its user has validated, and a renewal that the store is about to tell. */
async function renewed(keys: IssuedApiKeys, platform: Platform, productId: string) {
  const order = { platform, productId, type: 'paid subscription', applicationUsername: createUniqueName('user') };
  const { id, validate } = await service.callControl('/purchases', order);
  const { body } = await service.validate(keys, validate);
  await posted.takeNew();
  await service.callControl(`/purchases/${id}/renew`, {});
  return { purchaseId: `${platform}:${body.data.collection[0].purchaseId}`, events: await posted.takeNew() };
}

const mostAttempts = 4;

/** The store posts until its notifications are taken. */
async function tell(events: readonly APIGatewayProxyEvent[]): Promise<void> {
  for (const event of events) {
    for (let attempt = 1; (await receive(event)).statusCode !== 200; attempt++) {
      if (attempt === mostAttempts) throw new Error('the notification is never taken');
      // Who answers the next attempt has not died.
      calls.failAt();
    }
  }
}

/** The queue gives each message to a worker until one has done with it. */
async function workOff(): Promise<void> {
  while (queued.length > 0) {
    const body = queued.shift() ?? '';
    const event = { Records: [{ messageId: '1', body }] } as SQSEvent;
    for (let attempt = 1; (await processNotifications(event)).batchItemFailures.length > 0; attempt++) {
      if (attempt === mostAttempts) throw new Error('the message is never done with');
      calls.failAt();
    }
  }
}

async function expectRenewedOnce({ appName, secretKey }: IssuedApiKeys, purchaseId: string) {
  const query = { include_notifications: 'true' };
  const { body } = await callEndpoint(getPurchase, {
    headers: buildBasicAuth(appName, secretKey),
    params: { purchaseId },
    query,
  });
  expect(body).toMatchObject({ isExpired: false });
  expect(body.notifications.map(({ reason }: { reason: string }) => reason)).toEqual(['PURCHASED', 'RENEWED']);
  expect(await deps().purchases.listTransactions(appName, [purchaseId])).toHaveLength(2);
}

describe.each([
  ['store_a', 'premium'],
  ['store_b', 'premium'],
  ['processor_a', 'basic'],
] as const)('a renewal that %s tells', (platform, productId) => {
  let keys: IssuedApiKeys;
  beforeAll(async () => {
    keys = await service.createApp([platform]);
    const url = `${posted.url}/v3/webhook/${platform}/${keys.appName}`;
    const put = { method: 'PUT', body: JSON.stringify({ url }) };
    await fetch(`${service.emulatorUrl}/control/notifications/${platform}`, put);
  });

  /** Lives a renewal with a fault at the n-th call; returns how many calls there were until then or to the end. */
  const live = async (number?: number, failure?: FailureMode): Promise<number> => {
    const { purchaseId, events } = await renewed(keys, platform, productId);
    calls.failAt(number, failure);
    await tell(events);
    await workOff();
    const made = calls.count();
    calls.failAt();
    // The store tells it again, as its answer was lost, and so does the queue.
    await tell(events);
    await workOff();
    await expectRenewedOnce(keys, purchaseId);
    return made;
  };

  it.each(failureModes)(
    'is stored once, whichever call to the outside is %s',
    async (failure) => {
      const made = await live();
      expect(made).toBeGreaterThan(5);
      for (let number = 1; number <= made; number++) await live(number, failure);
    },
    120_000,
  );
});

describe('a validation that the client repeats until it is answered', () => {
  let keys: IssuedApiKeys;
  beforeAll(async () => {
    keys = await service.createApp(['store_b']);
    const url = `${posted.url}/v3/webhook/store_b/${keys.appName}`;
    const put = { method: 'PUT', body: JSON.stringify({ url }) };
    await fetch(`${service.emulatorUrl}/control/notifications/store_b`, put);
  });

  const bought = async (productId: string, applicationUsername: string) =>
    await service.callControl('/purchases', {
      ...{ platform: 'store_b', productId, type: 'consumable' },
      applicationUsername,
    });

  /** The store tells of one purchase before its user is known, who then validates another with a fault at the n-th call. */
  const live = async (number?: number, failure?: FailureMode): Promise<number> => {
    const user = createUniqueName('user');
    const first = await bought('coins', user);
    await tell(await posted.takeNew());
    await workOff();
    const second = await bought('gems', user);
    await posted.takeNew();
    calls.failAt(number, failure);
    for (let attempt = 1; ; attempt++) {
      const { body } = await service.validate(keys, second.validate);
      if (body.ok) break;
      if (attempt === mostAttempts) throw new Error(body.message);
      calls.failAt();
    }
    const made = calls.count();
    calls.failAt();
    await service.validate(keys, second.validate);
    const owned = await deps().purchases.listByUser(keys.appName, user);
    expect(owned.map(({ purchaseId }) => purchaseId).sort()).toEqual(
      [`store_b:${first.id}`, `store_b:${second.id}`].sort(),
    );
    return made;
  };

  it.each(failureModes)(
    'gives its user everything, whichever call to the outside is %s',
    async (failure) => {
      const made = await live();
      expect(made).toBeGreaterThan(5);
      for (let number = 1; number <= made; number++) await live(number, failure);
    },
    120_000,
  );
});
