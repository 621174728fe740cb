import { describe, expect, it } from '@jest/globals';
import { toShortDigest } from '../../../lib/foundation/key.ts';
import { appKey, customerKey, webhookUrlKey } from '../../../lib/foundation/keys.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import { startBatch } from '../../../lib/foundation/start-batch.ts';
import { sendWebhook } from '../../../lib/webhooks/send-webhook.ts';
import { createObservation } from '../../../testing/given.ts';
import { createWebhookHarness } from '../../../testing/webhook-harness.ts';
import { useApplicationServer } from './application-server-fixture.ts';
import { buildPurchase } from './purchase-updates.ts';

const getServer = useApplicationServer();

/** Returns the service with a log of the reads that `name` names. */
function recordReads(service: Service, name: (key: { pk: string; sk?: string }) => string | undefined) {
  const reads: string[] = [];
  const record = (key: { pk: string; sk?: string }) => reads.push(...[name(key)].filter((read) => read !== undefined));
  const table: Service['table'] = {
    ...service.table,
    batchGet: async (keys, options) => {
      for (const key of keys) record(key);
      return await service.table.batchGet(keys, options);
    },
    query: async (range) => {
      if (range.index === undefined) record({ pk: range.partition });
      return await service.table.query(range);
    },
  };
  return { service: { ...service, table }, reads };
}

describe('sendWebhook for the messages of a batch', () => {
  it('reads the app and the health of each URL once', async () => {
    const urls = ['/first', '/second'].map((path) => `${getServer().url}${path}`);
    const harness = await createWebhookHarness({ urls });
    for (const id of ['store_a:1', 'store_a:2', 'store_a:3']) {
      const observation = createObservation({ purchaseId: id, transactionId: id });
      await harness.fanOut([await harness.recordUpdate(id, buildPurchase('ann', { observation }))]);
    }
    const { appName } = harness.keys;
    const names = new Map([
      [appKey(appName).pk, appName],
      ...urls.map((url) => [webhookUrlKey(appName, toShortDigest(url)).pk, url] as const),
    ]);
    const { service, reads } = recordReads(harness.service, ({ pk }) => names.get(pk));
    const batch = startBatch(service);
    const messages = harness.queue.splice(0).map(({ message }) => message);
    await Promise.all(messages.map(async (message) => await sendWebhook(batch, message)));
    expect(
      getServer()
        .requests.map(({ path }) => path)
        .sort(),
    ).toEqual([...Array.from({ length: 3 }, () => '/first'), ...Array.from({ length: 3 }, () => '/second')]);
    expect(reads.sort()).toEqual([appName, ...urls].sort());
  });

  it('reads the purchases of each customer once', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    for (const [id, username] of [
      ['store_a:1', 'ann'],
      ['store_a:2', 'ann'],
      ['store_a:3', 'bob'],
    ] as const) {
      const observation = createObservation({ purchaseId: id, transactionId: id });
      await harness.fanOut([await harness.recordUpdate(id, buildPurchase(username, { observation }))]);
    }
    const { appName } = harness.keys;
    const names = new Map(['ann', 'bob'].map((username) => [customerKey.partition(appName, username), username]));
    const { service, reads } = recordReads(harness.service, ({ pk, sk }) =>
      sk === undefined ? names.get(pk) : undefined,
    );
    const batch = startBatch(service);
    const messages = harness.queue.splice(0).map(({ message }) => message);
    await Promise.all(messages.map(async (message) => await sendWebhook(batch, message)));
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
