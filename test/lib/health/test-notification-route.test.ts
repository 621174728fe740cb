import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { listEventPage } from '../../../lib/events/event-list-table.ts';
import { getService } from '../../../lib/foundation/get-service.ts';
import { minuteMs, secondMs } from '../../../lib/foundation/time.ts';
import { testNotificationRoute } from '../../../lib/health/test-notification-route.ts';
import { startNotificationServer } from '../../../testing/notification-server.ts';
import { startTestService } from '../../../testing/service.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { startWorkQueues } from '../../../testing/work-queues.ts';

const service = startBeforeAll(startTestService);
const queues = startBeforeAll(startWorkQueues);
const server = startBeforeAll(startNotificationServer);

/** Creates an app that receives the notifications of the App Store, and tests their way. */
async function testRoute(timeoutMs: number) {
  const { appName: app } = await service.createApp(['store_a']);
  const url = `${server.url}/v3/webhook/store_a/${app}`;
  await service.setNotificationUrl('store_a', url);
  const listLatestEvents = async () =>
    (await listEventPage(getService(), app, { limit: 50, includesReads: false })).rows;
  return await testNotificationRoute(getService(), { app, platform: 'store_a', url, timeoutMs, listLatestEvents });
}

describe('testNotificationRoute', () => {
  it('waits for test notifications that a busy queue records late', async () => {
    const tested = testRoute(5 * minuteMs);
    // Longer than the default timeout of the command would wait.
    await delay(6 * secondMs);
    for (let handled = 0; handled < 2; ) handled += await queues.handleOnce('notifications');
    const { steps, problems } = await tested;
    expect(problems).toEqual([]);
    expect(steps.at(-1)?.outcome).toBe('2 of 2 test notifications');
  });

  it('reports notifications that are not recorded in a third of the time', async () => {
    const { problems } = await testRoute(15 * secondMs);
    expect(problems).toMatchObject([
      { code: 'elsewhere', problem: expect.stringContaining('the service recorded 0 within 5 seconds') },
    ]);
    await queues.drain();
  });
});
