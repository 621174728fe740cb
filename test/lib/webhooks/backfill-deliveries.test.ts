import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { setStrategy } from '../../../lib/apps/manage-apps.ts';
import { strategies } from '../../../lib/purchases/claims.ts';
import type { RecordPurchaseInput } from '../../../lib/purchases/record-purchase.ts';
import { backfillDeliveries } from '../../../lib/webhooks/backfill-deliveries.ts';
import { setWebhook } from '../../../lib/webhooks/manage-webhooks.ts';
import { type ApplicationServer, startApplicationServer } from '../../../testing/application-server.ts';
import { createObservation, createTransaction, dayMs, startDate } from '../../../testing/given.ts';
import { createWebhookHarness, type WebhookHarness } from '../../../testing/webhook-harness.ts';

let server: ApplicationServer;
beforeAll(async () => {
  server = await startApplicationServer();
});
afterAll(async () => await server.close());
beforeEach(() => {
  server.requests.length = 0;
  server.respondWith({ status: 200 });
});

const id = 'store_a:1';
const minute = 60_000;
const bought = (username: string, fields: Partial<RecordPurchaseInput> = {}): RecordPurchaseInput => ({
  trigger: 'notification',
  observation: createObservation(),
  claim: { username, source: 'validation' },
  strategy: 'all',
  now: startDate,
  ...fields,
});
const renewed = (now: number): RecordPurchaseInput => {
  const { purchase } = createObservation({ transactionId: 'store_a:2', expirationDate: startDate + 62 * dayMs });
  const observation = { asOf: now, purchase, transactions: [createTransaction(purchase)], userAliases: [] };
  return { trigger: 'notification', observation, strategy: 'all', now };
};

/** What the command answers of the range, once all that it sent has arrived. */
async function announced(world: WebhookHarness, from = startDate, to = world.now + 1) {
  const response = await backfillDeliveries(world.keys.appName, { from, to }, world.deps);
  await world.workUntil(world.now);
  return response;
}

const told = () =>
  server.requests.map(({ body }) => {
    const { notification, applicationUsername } = JSON.parse(body);
    return `${applicationUsername} ${notification.reason}`;
  });

describe('announcing what the worker of the stream gave up', () => {
  it('sends the one signed webhook that the worker would have sent, and no second one', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    world.now = Date.now();
    const observation = createObservation({ expirationDate: world.now + dayMs });
    const record = await world.recordUpdate(id, bought('ann', { now: world.now, observation }));
    expect(await announced(world, world.now)).toEqual({ webhooks: 1, missing: 1 });
    const [sent] = server.requests;
    const body = new Webhook(world.signingSecret).verify(sent?.body ?? '', sent?.headers as Record<string, string>);
    expect(body).toMatchObject({
      notification: { reason: 'PURCHASED', purchaseId: id, transactionId: id, productId: 'store_a:monthly' },
      applicationUsername: 'ann',
    });
    expect(await announced(world, world.now)).toEqual({ webhooks: 1, missing: 0 });
    await world.fanOut([record]);
    expect(world.queue.map(({ order }) => order.deliveryId)).toEqual([sent?.headers['webhook-id']]);
    await world.workUntil(world.now + dayMs);
    expect(server.requests).toHaveLength(1);
  });

  it('sends nothing of a change that was delivered, is waiting or is dead', async () => {
    const world = await createWebhookHarness({ urls: [`${server.url}/good`, `${server.url}/bad`] });
    server.respondWith(({ path }) => ({ status: path === '/good' ? 200 : 500 }));
    await world.fanOut([await world.recordUpdate(id, bought('ann'))]);
    await world.workUntil(world.now);
    expect(await announced(world)).toEqual({ webhooks: 2, missing: 0 });
    expect(server.requests).toHaveLength(2);
    await world.workUntil(startDate + 6 * dayMs);
    const attempts = server.requests.length;
    expect(await announced(world)).toEqual({ webhooks: 2, missing: 0 });
    expect(server.requests).toHaveLength(attempts);
  });

  it('tells of the events of the life of a purchase that has changed since', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    await world.recordUpdate(id, bought('ann'));
    world.now = startDate + dayMs;
    await world.fanOut([await world.recordUpdate(id, renewed(world.now))]);
    await world.workUntil(world.now);
    expect(told()).toEqual(['ann RENEWED']);
    expect(await announced(world)).toEqual({ webhooks: 2, missing: 1 });
    expect(told()).toEqual(['ann RENEWED', 'ann PURCHASED']);
  });

  it('tells of the range alone: the first moment is in it, the last is not', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    await world.recordUpdate(id, bought('ann'));
    world.now = startDate + dayMs;
    await world.recordUpdate(id, renewed(world.now));
    expect(await announced(world, startDate + 1, startDate + dayMs)).toEqual({ webhooks: 0, missing: 0 });
    expect(await announced(world, startDate, startDate + dayMs)).toEqual({ webhooks: 1, missing: 1 });
    expect(told()).toEqual(['ann PURCHASED']);
  });

  it('tells nobody of what was before the purchase was theirs', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    const { claim: _nobody, ...unclaimed } = bought('ann');
    await world.fanOut([await world.recordUpdate(id, unclaimed)]);
    for (const [index, username] of ['ann', 'bob'].entries()) {
      world.now = startDate + (index + 1) * minute;
      await world.fanOut([await world.recordUpdate(id, bought(username, { trigger: 'validation', now: world.now }))]);
    }
    await world.workUntil(world.now);
    const before = told();
    expect(before).toContain('bob RECEIPT_VALIDATED');
    expect(await announced(world)).toMatchObject({ missing: 0 });
    expect(told()).toEqual(before);
  });

  it('finds nothing missing of any life that the worker has announced', async () => {
    const step = fc.record({
      username: fc.constantFrom('ann', 'bob', 'cid'),
      source: fc.constantFrom('validation' as const, 'manual' as const),
      renews: fc.boolean(),
    });
    const life = fc.record({ strategy: fc.constantFrom(...strategies), steps: fc.array(step, { maxLength: 6 }) });
    const property = fc.asyncProperty(life, async ({ strategy, steps }) => {
      const world = await createWebhookHarness({ urls: [server.url] });
      const app = await setStrategy(world.deps.apps, world.keys.appName, strategy);
      for (const { username, source, renews } of steps) {
        world.now += minute;
        const { observation } = renews ? renewed(world.now) : bought(username);
        const happened = bought(username, { strategy, claim: { username, source }, now: world.now });
        await world.fanOut([await world.recordUpdate(id, { ...happened, ...(observation && { observation }) })]);
      }
      expect(await backfillDeliveries(app.name, { from: startDate, to: world.now + 1 }, world.deps)).toMatchObject({
        missing: 0,
      });
    });
    await fc.assert(property, { numRuns: 15 });
  }, 60_000);

  it('sends what was made and never sent, once the queue cannot have it any more', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    await world.fanOut([await world.recordUpdate(id, bought('ann'))]);
    expect(world.queue.splice(0)).toHaveLength(1);
    expect(await announced(world)).toEqual({ webhooks: 1, missing: 0 });
    world.now += 15 * minute;
    expect(await announced(world)).toEqual({ webhooks: 1, missing: 1 });
    expect(told()).toEqual(['ann PURCHASED']);
  });

  it('tells of sandbox purchases where they belong', async () => {
    const world = await createWebhookHarness({ urls: [`${server.url}/main`], sandboxUrls: [`${server.url}/sandbox`] });
    await world.recordUpdate(id, bought('ann', { observation: createObservation({ sandbox: true }) }));
    await announced(world);
    expect(server.requests.map(({ path }) => path)).toEqual(['/sandbox']);
  });

  it('refuses a range that deliveries are not remembered for, one that is none, and an application without a URL', async () => {
    const world = await createWebhookHarness({ urls: [server.url] });
    await world.fanOut([await world.recordUpdate(id, bought('ann'))]);
    await world.workUntil(startDate + 29 * dayMs + 1);
    const late = { code: 'InvalidPayload', message: expect.stringMatching(/At most 29 days back/) };
    await expect(announced(world)).rejects.toMatchObject(late);
    expect(await announced(world, startDate + 1)).toEqual({ webhooks: 0, missing: 0 });
    await expect(announced(world, world.now, world.now)).rejects.toMatchObject({ code: 'InvalidPayload' });
    const settings = { urls: [], sandboxUrls: [], includesPassword: true };
    await setWebhook(world.keys.appName, settings, { newSecret: false, deps: world.deps });
    await expect(announced(world, world.now - dayMs)).rejects.toMatchObject({
      message: expect.stringMatching(/no webhook URL/),
    });
    expect(server.requests).toHaveLength(1);
  });
});
