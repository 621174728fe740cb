import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { strategies } from '../../../lib/apps/app.ts';
import { changeSettings } from '../../../lib/apps/manage-apps.ts';
import { createEventId } from '../../../lib/foundation/event-id.ts';
import { dayMs, minuteMs } from '../../../lib/foundation/time.ts';
import { backfillDeliveries } from '../../../lib/webhooks/backfill-deliveries.ts';
import { saveWebhook } from '../../../lib/webhooks/manage-webhooks.ts';
import { createObservation, startDate } from '../../../testing/given.ts';
import { sampleRuns } from '../../../testing/sample.ts';
import { createWebhookHarness, type WebhookHarness } from '../../../testing/webhook-harness.ts';
import { useApplicationServer } from './application-server-fixture.ts';
import { buildPurchase, buildRenewal, purchaseId } from './purchase-updates.ts';

const getServer = useApplicationServer();

/** Backfills the range and delivers the enqueued webhooks. */
async function backfill(harness: WebhookHarness, from = startDate, to = harness.now + 1) {
  const result = await backfillDeliveries(harness.service, harness.keys.appName, { from, to });
  await harness.workUntil(harness.now);
  return result;
}

/** Lists the received webhooks as `<username> <reason>`. */
const listReceived = () =>
  getServer().requests.map(({ body }) => {
    const { notification, applicationUsername } = JSON.parse(body);
    return `${applicationUsername} ${notification.reason}`;
  });

describe('backfillDeliveries', () => {
  it('sends the webhook that the fan-out worker would have sent, once', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    harness.now = Date.now();
    const observation = createObservation({ expirationDate: harness.now + dayMs });
    const record = await harness.recordUpdate(purchaseId, buildPurchase('ann', { now: harness.now, observation }));
    expect(await backfill(harness, harness.now)).toEqual({ expected: 1, created: 1 });
    const [request] = getServer().requests;
    const headers = request?.headers as Record<string, string>;
    const body = new Webhook(harness.signingSecret).verify(request?.body ?? '', headers);
    expect(body).toMatchObject({
      notification: { reason: 'PURCHASED', purchaseId, transactionId: purchaseId, productId: 'store_a:monthly' },
      applicationUsername: 'ann',
    });
    expect(await backfill(harness, harness.now)).toEqual({ expected: 1, created: 0 });
    await harness.fanOut([record]);
    expect(harness.queue.map(({ message }) => message.deliveryId)).toEqual([headers['webhook-id']]);
    await harness.workUntil(harness.now + dayMs);
    expect(getServer().requests).toHaveLength(1);
  });

  it('names the event of the current version, and none for former versions', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const [first, second] = [createEventId(startDate), createEventId(startDate + 1)];
    await harness.recordUpdate(purchaseId, { ...buildPurchase('ann'), eventId: first });
    harness.now = startDate + dayMs;
    await harness.recordUpdate(purchaseId, { ...buildRenewal(harness.now), eventId: second });
    await backfill(harness);
    const events = getServer().requests.map(({ body, headers }) => [
      JSON.parse(body).notification.reason,
      headers['x-request-id'],
    ]);
    expect(events.sort()).toEqual([
      ['PURCHASED', undefined],
      ['RENEWED', second],
    ]);
  });

  it('does not send a delivery again that is delivered, pending or dead', async () => {
    const harness = await createWebhookHarness({ urls: [`${getServer().url}/good`, `${getServer().url}/bad`] });
    getServer().respondWith(({ path }) => ({ status: path === '/good' ? 200 : 500 }));
    await harness.fanOut([await harness.recordUpdate(purchaseId, buildPurchase('ann'))]);
    await harness.workUntil(harness.now);
    expect(await backfill(harness)).toEqual({ expected: 2, created: 0 });
    expect(getServer().requests).toHaveLength(2);
    await harness.workUntil(startDate + 6 * dayMs);
    const attempts = getServer().requests.length;
    expect(await backfill(harness)).toEqual({ expected: 2, created: 0 });
    expect(getServer().requests).toHaveLength(attempts);
  });

  it('announces the lifecycle notifications of former versions of a purchase', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    await harness.recordUpdate(purchaseId, buildPurchase('ann'));
    harness.now = startDate + dayMs;
    await harness.fanOut([await harness.recordUpdate(purchaseId, buildRenewal(harness.now))]);
    await harness.workUntil(harness.now);
    expect(listReceived()).toEqual(['ann RENEWED']);
    expect(await backfill(harness)).toEqual({ expected: 2, created: 1 });
    expect(listReceived()).toEqual(['ann RENEWED', 'ann PURCHASED']);
  });

  it('includes the start of the range and excludes its end', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    await harness.recordUpdate(purchaseId, buildPurchase('ann'));
    harness.now = startDate + dayMs;
    await harness.recordUpdate(purchaseId, buildRenewal(harness.now));
    expect(await backfill(harness, startDate + 1, startDate + dayMs)).toEqual({ expected: 0, created: 0 });
    expect(await backfill(harness, startDate, startDate + dayMs)).toEqual({ expected: 1, created: 1 });
    expect(listReceived()).toEqual(['ann PURCHASED']);
  });

  it('does not announce changes to users who were entitled later', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const { claim: _claim, ...unclaimedPurchase } = buildPurchase('ann');
    await harness.fanOut([await harness.recordUpdate(purchaseId, unclaimedPurchase)]);
    for (const [index, username] of ['ann', 'bob'].entries()) {
      harness.now = startDate + (index + 1) * minuteMs;
      const validation = buildPurchase(username, { trigger: 'validation', now: harness.now });
      await harness.fanOut([await harness.recordUpdate(purchaseId, validation)]);
    }
    await harness.workUntil(harness.now);
    const receivedBefore = listReceived();
    expect(receivedBefore).toContain('bob RECEIPT_VALIDATED');
    expect(await backfill(harness)).toMatchObject({ created: 0 });
    expect(listReceived()).toEqual(receivedBefore);
  });

  it('announces the first owner of a purchase that a notification stored before, even after a later version', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const { claim: _claim, ...unclaimedPurchase } = buildPurchase('ann');
    await harness.recordUpdate(purchaseId, unclaimedPurchase);
    harness.now = startDate + minuteMs;
    await harness.recordUpdate(purchaseId, buildPurchase('ann', { trigger: 'validation', now: harness.now }));
    harness.now = startDate + dayMs;
    await harness.recordUpdate(purchaseId, buildRenewal(harness.now));
    expect(await backfill(harness)).toEqual({ expected: 2, created: 2 });
    expect(listReceived().sort()).toEqual(['ann PURCHASED', 'ann RENEWED']);
    expect(await backfill(harness)).toEqual({ expected: 2, created: 0 });
  });

  it('announces a purchase once if a notification stored it while its client validated', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const { claim: _claim, ...unclaimedPurchase } = buildPurchase('ann');
    harness.now = startDate + 1;
    const records = [await harness.recordUpdate(purchaseId, { ...unclaimedPurchase, now: harness.now })];
    // The validation began before the notification was stored.
    const validation = buildPurchase('ann', { trigger: 'validation', now: startDate });
    records.push(await harness.recordUpdate(purchaseId, validation));
    harness.now = startDate + dayMs;
    records.push(await harness.recordUpdate(purchaseId, buildRenewal(harness.now)));
    await harness.fanOut(records);
    await harness.workUntil(harness.now);
    const received = listReceived();
    expect(received.filter((line) => line === 'ann PURCHASED')).toHaveLength(1);
    expect(await backfill(harness)).toMatchObject({ created: 0 });
    expect(listReceived()).toEqual(received);
  });

  it(
    'creates no delivery for any history that the fan-out worker has processed',
    async () => {
      const arbitraryStep = fc.record({
        username: fc.constantFrom('ann', 'bob', 'cid'),
        source: fc.constantFrom('validation' as const, 'manual' as const),
        renews: fc.boolean(),
      });
      const arbitraryHistory = fc.record({
        strategy: fc.constantFrom(...strategies),
        // A notification stores the purchase without an owner, this much later than the first validation begins.
        storedAfterMs: fc.constantFrom(undefined, -1, 0, 1),
        steps: fc.array(arbitraryStep, { maxLength: 6 }),
      });
      const property = fc.asyncProperty(arbitraryHistory, async ({ strategy, storedAfterMs, steps }) => {
        const harness = await createWebhookHarness({ urls: [getServer().url] });
        const app = await changeSettings(harness.service, harness.keys.appName, { strategy });
        if (storedAfterMs !== undefined) {
          const { claim: _claim, ...unclaimed } = buildPurchase('ann', { now: startDate + minuteMs + storedAfterMs });
          await harness.fanOut([await harness.recordUpdate(purchaseId, unclaimed)]);
        }
        for (const { username, source, renews } of steps) {
          harness.now += minuteMs;
          const { observation } = renews ? buildRenewal(harness.now) : buildPurchase(username);
          const input = buildPurchase(username, { strategy, claim: { username, source }, now: harness.now });
          const record = await harness.recordUpdate(purchaseId, { ...input, ...(observation && { observation }) });
          await harness.fanOut([record]);
        }
        const range = { from: startDate, to: harness.now + 1 };
        expect(await backfillDeliveries(harness.service, app.name, range)).toMatchObject({ created: 0 });
      });
      await fc.assert(property, sampleRuns({ sample: 3, full: 40 }));
    },
    10 * minuteMs,
  );

  it('enqueues a delivery without an attempt again after 15 minutes', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    await harness.fanOut([await harness.recordUpdate(purchaseId, buildPurchase('ann'))]);
    expect(harness.queue.splice(0)).toHaveLength(1);
    expect(await backfill(harness)).toEqual({ expected: 1, created: 0 });
    harness.now += 15 * minuteMs;
    expect(await backfill(harness)).toEqual({ expected: 1, created: 1 });
    expect(listReceived()).toEqual(['ann PURCHASED']);
  });

  it('sends the webhooks of sandbox purchases to the sandbox URLs', async () => {
    const urls = { urls: [`${getServer().url}/main`], sandboxUrls: [`${getServer().url}/sandbox`] };
    const harness = await createWebhookHarness(urls);
    const observation = createObservation({ sandbox: true });
    await harness.recordUpdate(purchaseId, buildPurchase('ann', { observation }));
    await backfill(harness);
    expect(getServer().requests.map(({ path }) => path)).toEqual(['/sandbox']);
  });

  it('sends nothing for an imported purchase, also not if a notification stored it before', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    const claim = { username: 'ann', source: 'validation', claimedAt: startDate - dayMs } as const;
    const record = await harness.recordUpdate('store_a:2', {
      ...buildPurchase('ann', {
        trigger: 'import',
        claim,
        observation: createObservation({ purchaseId: 'store_a:2' }),
      }),
    });
    const { claim: _claim, ...unclaimed } = buildPurchase('ann');
    const unclaimedRecord = await harness.recordUpdate(purchaseId, unclaimed);
    harness.now += dayMs;
    const claimRecord = await harness.recordUpdate(
      purchaseId,
      buildPurchase('ann', { trigger: 'import', claim, now: harness.now }),
    );
    await harness.fanOut([record, unclaimedRecord, claimRecord]);
    expect(await backfill(harness)).toEqual({ expected: 0, created: 0 });
    expect(getServer().requests).toEqual([]);
  });

  it('rejects a range outside the retention, an empty range and an app without a webhook URL', async () => {
    const harness = await createWebhookHarness({ urls: [getServer().url] });
    await harness.fanOut([await harness.recordUpdate(purchaseId, buildPurchase('ann'))]);
    await harness.workUntil(startDate + 29 * dayMs + 1);
    const retentionError = { code: 'InvalidPayload', message: expect.stringMatching(/at most 29 days ago/) };
    await expect(backfill(harness)).rejects.toMatchObject(retentionError);
    expect(await backfill(harness, startDate + 1)).toEqual({ expected: 0, created: 0 });
    await expect(backfill(harness, harness.now, harness.now)).rejects.toMatchObject({ code: 'InvalidPayload' });
    const settings = { urls: [], sandboxUrls: [], includesPassword: true };
    await saveWebhook(harness.service, harness.keys.appName, settings, { newSecret: false });
    await expect(backfill(harness, harness.now - dayMs)).rejects.toMatchObject({
      message: expect.stringMatching(/has no webhook URL/),
    });
    expect(getServer().requests).toHaveLength(1);
  });
});
