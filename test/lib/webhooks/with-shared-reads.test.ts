import { describe, expect, it } from '@jest/globals';
import { sendWebhook } from '../../../lib/webhooks/send-webhook.ts';
import { withSharedCustomers, withSharedReads } from '../../../lib/webhooks/with-shared-reads.ts';
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

  it('reads the purchases of each customer once for the webhooks of a batch', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    for (const [id, username] of [
      ['store_a:1', 'ann'],
      ['store_a:2', 'ann'],
      ['store_a:3', 'bob'],
    ] as const) {
      const observation = createObservation({ purchaseId: id, transactionId: id });
      await harness.fanOut([await harness.recordUpdate(id, buildPurchase(username, { observation }))]);
    }
    const reads: string[] = [];
    const { ownedPurchases } = harness.deps;
    const batchDeps = withSharedCustomers({
      ...harness.deps,
      ownedPurchases: {
        ...ownedPurchases,
        listRepresentativePurchases: async (appName: string, username: string) => {
          reads.push(username);
          return await ownedPurchases.listRepresentativePurchases(appName, username);
        },
      },
    });
    const messages = harness.queue.splice(0).map(({ message }) => message);
    await Promise.all(messages.map(async (message) => await sendWebhook(message, batchDeps)));
    const recipients = getServer()
      .requests.map(({ body }) => JSON.parse(body))
      .map(({ applicationUsername, purchases }) => ({ applicationUsername, products: Object.keys(purchases) }))
      .sort((a, b) => a.applicationUsername.localeCompare(b.applicationUsername));
    const products = ['store_a:monthly'];
    expect(reads.sort()).toEqual(['ann', 'bob']);
    expect(recipients).toEqual([
      { applicationUsername: 'ann', products },
      { applicationUsername: 'ann', products },
      { applicationUsername: 'bob', products },
    ]);
  });
});
