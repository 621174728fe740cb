import { describe, expect, it } from '@jest/globals';
import type { Catalogue } from '../../../lib/apps/catalogue.ts';
import { findCatalogue, storeCatalogue } from '../../../lib/apps/catalogue-table.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import { dayMs, minuteMs } from '../../../lib/foundation/time.ts';
import { setAnnouncedCatalogue } from '../../../lib/webhooks/announce-catalogue.ts';
import { createObservation, startDate } from '../../../testing/given.ts';
import { createWebhookHarness, type WebhookHarness } from '../../../testing/webhook-harness.ts';
import { useApplicationServer } from './application-server-fixture.ts';
import { buildPurchase } from './purchase-updates.ts';

const getServer = useApplicationServer();

const give = (...entitlements: string[]): Catalogue => ({ monthly: { type: 'paid subscription', entitlements } });

/** An app with active purchases of the product `monthly`, one for each customer. */
async function givenCustomers(usernames: readonly string[]): Promise<WebhookHarness> {
  const harness = await createWebhookHarness({ urls: [getServer().url] });
  for (const username of usernames) {
    const purchaseId = `store_b:${username}`;
    const observation = createObservation({ purchaseId, transactionId: purchaseId, expirationDate: startDate + dayMs });
    await harness.recordUpdate(purchaseId, buildPurchase(username, { observation }));
  }
  await storeCatalogue(harness.service, harness.keys.appName, give('basic'));
  return harness;
}

/** Announces a catalogue and returns the result with the waits between the webhooks. */
async function announce(harness: WebhookHarness, catalogue: Catalogue, changes: Partial<Service> = {}) {
  const { service, keys } = harness;
  const waits: number[] = [];
  const wait = async (ms: number) => void waits.push(ms);
  const result = await setAnnouncedCatalogue({ ...service, ...changes }, keys.appName, catalogue, { rate: 2, wait });
  return { ...result, waits };
}

/** Delivers the enqueued webhooks and lists them as `<username> <reason> <changed entitlements>`. */
async function listReceived(harness: WebhookHarness): Promise<string[]> {
  await harness.workUntil(harness.now + minuteMs);
  return getServer()
    .requests.map(({ body }) => {
      const { notification, applicationUsername, entitlementsChanged } = JSON.parse(body);
      return `${applicationUsername} ${notification.reason} ${entitlementsChanged}`;
    })
    .sort();
}

describe('setAnnouncedCatalogue', () => {
  it('sends the new entitlements to each customer who gains or loses one, at the given rate', async () => {
    const harness = await givenCustomers(['ann', 'bob', 'cid', 'dan', 'eve']);
    const announced = await announce(harness, give('premium'));
    expect(announced).toEqual({ products: 1, customers: 5, webhooks: 5, waits: [1_000, 1_000] });
    expect(await listReceived(harness)).toEqual(
      ['ann', 'bob', 'cid', 'dan', 'eve'].map((name) => `${name} OTHER basic,premium`),
    );
    expect(JSON.parse(getServer().requests[0]?.body ?? '').entitlements).toMatchObject({ premium: { isActive: true } });
  });

  it('sends nothing to customers whose entitlements stay the same', async () => {
    const harness = await givenCustomers(['ann']);
    const other: Catalogue = { yearly: { type: 'paid subscription', entitlements: ['premium'] } };
    expect(await announce(harness, { ...give('basic'), ...other })).toMatchObject({ customers: 0, webhooks: 0 });
    expect(await listReceived(harness)).toEqual([]);
  });

  it('continues after a failure with the same catalogue, and sends nothing twice', async () => {
    const harness = await givenCustomers(['ann', 'bob', 'cid']);
    let sent = 0;
    const webhookQueue: Service['webhookQueue'] = {
      async send(messages, options) {
        sent += 1;
        if (sent === 2) throw new Error('The queue is unavailable.');
        await harness.service.webhookQueue.send(messages, options);
      },
    };
    await expect(announce(harness, give('premium'), { webhookQueue })).rejects.toThrow('unavailable');
    expect(await listReceived(harness)).toHaveLength(2);
    expect(await announce(harness, give('premium'))).toMatchObject({ customers: 3, webhooks: 1 });
    const all = ['ann', 'bob', 'cid'].map((name) => `${name} OTHER basic,premium`);
    expect(await listReceived(harness)).toEqual(all);
    expect(await announce(harness, give('premium'))).toMatchObject({ customers: 0, webhooks: 0 });
    expect(await listReceived(harness)).toEqual(all);
  });

  it('completes an interrupted announcement before it announces another catalogue', async () => {
    const harness = await givenCustomers(['ann']);
    const webhookQueue = { send: async () => await Promise.reject(new Error('The queue is unavailable.')) };
    await expect(announce(harness, give('premium'), { webhookQueue })).rejects.toThrow('unavailable');
    expect(await announce(harness, give())).toMatchObject({ customers: 1, webhooks: 2 });
    expect(await listReceived(harness)).toEqual(['ann OTHER basic,premium', 'ann OTHER premium']);
  });

  it('rejects an app without a webhook URL and changes nothing', async () => {
    const harness = await createWebhookHarness({ urls: [] });
    await expect(announce(harness, give('premium'))).rejects.toThrow('webhook URL');
    expect(await findCatalogue(harness.service, harness.keys.appName)).toBeUndefined();
  });
});
