import { describe, expect, it } from '@jest/globals';
import { sendWebhook } from '../../../lib/webhooks/send-webhook.ts';
import { withSharedReads } from '../../../lib/webhooks/with-shared-reads.ts';
import { createObservation } from '../../../testing/given.ts';
import { createWebhookHarness } from '../../../testing/webhook-harness.ts';
import { useApplicationServer } from './application-server-fixture.ts';
import { buildPurchase } from './purchase-updates.ts';

const getServer = useApplicationServer();

describe('withSharedReads', () => {
  it('reads the app and the health of each URL once for the webhooks of a batch', async () => {
    const urls = ['/first', '/second'].map((path) => `${getServer().url}${path}`);
    const harness = await createWebhookHarness({ urls });
    for (const id of ['store_a:1', 'store_a:2', 'store_a:3']) {
      const observation = createObservation({ purchaseId: id, transactionId: id });
      await harness.fanOut([await harness.recordUpdate(id, buildPurchase('ann', { observation }))]);
    }
    const reads: string[] = [];
    const { apps, deliveries } = harness.deps;
    const recordingDeps = {
      ...harness.deps,
      apps: {
        ...apps,
        findWebhookSender: async (appName: string) => {
          reads.push(appName);
          return await apps.findWebhookSender(appName);
        },
      },
      deliveries: {
        ...deliveries,
        findUrlHealth: async (appName: string, url: string) => {
          reads.push(url);
          return await deliveries.findUrlHealth(appName, url);
        },
      },
    };
    const batchDeps = withSharedReads(recordingDeps);
    const messages = harness.queue.splice(0).map(({ message }) => message);
    await Promise.all(messages.map(async (message) => await sendWebhook(message, batchDeps)));
    expect(
      getServer()
        .requests.map(({ path }) => path)
        .sort(),
    ).toEqual([...Array.from({ length: 3 }, () => '/first'), ...Array.from({ length: 3 }, () => '/second')]);
    expect(reads.sort()).toEqual([harness.keys.appName, ...urls].sort());
  });
});
