import { describe, expect, it } from '@jest/globals';
import { give } from '../../../lib/credits/change-credits.ts';
import { settleRecords } from '../../../lib/credits/settle-records.ts';
import { announceGrantEnd } from '../../../lib/entitlements/grant-table.ts';
import { addGrant, changeGrantEnd } from '../../../lib/entitlements/manage-grants.ts';
import { createEventId } from '../../../lib/foundation/event-id.ts';
import * as keys from '../../../lib/foundation/keys.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import { recordRefundRequest } from '../../../lib/refunds/record-refund-request.ts';
import { saveWebhook } from '../../../lib/webhooks/manage-webhooks.ts';
import { createObservation, createTransaction, startDate } from '../../../testing/given.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';
import { createWebhookHarness } from '../../../testing/webhook-harness.ts';
import { useApplicationServer } from './application-server-fixture.ts';
import { buildPurchase } from './purchase-updates.ts';

const getServer = useApplicationServer();
const [first, second] = [createEventId(startDate), createEventId(startDate + 1)];

async function givenHarness() {
  const harness = await createWebhookHarness({ urls: [getServer().url] });
  const { service, now } = harness;
  const { appName } = harness.keys;
  const settings = { urls: [getServer().url], sandboxUrls: [], includesPassword: false };
  await saveWebhook(service, appName, { ...settings, events: ['credits', 'refunds'] }, { newSecret: false });
  /** Sends the webhooks of the latest change of an item, and returns the header of each. */
  const createSender = (partition: string, prefix: string) => {
    let before: object | undefined;
    let position = 0;
    return async () => {
      const [after = {}] = await service.table.query({ partition, prefix });
      const change = before ? { before: before as typeof after, after } : { after };
      before = after;
      const sent = getServer().requests.length;
      await harness.fanOut([buildStreamRecord(change, position++)]);
      await harness.workUntil(harness.now);
      return getServer()
        .requests.slice(sent)
        .map(({ headers }) => headers['x-request-id']);
    };
  };
  const context = { appName, username: 'ann', key: { id: 'key', name: 'alice' }, isSandbox: false };
  return { ...harness, appName, context, createSender, now };
}

const toPartition = (appName: string) => keys.customerKey.partition(appName, 'ann');

describe('x-request-id of a webhook', () => {
  it('names the request that changed a grant, and is absent at the end of the grant', async () => {
    const { service, appName, context, createSender, now } = await givenHarness();
    const send = createSender(toPartition(appName), keys.grantKey.sortKey());
    const until = now + dayMs;
    const request = { entitlement: 'pro', reason: 'why', until };
    const { grant } = await addGrant(service, request, { ...context, eventId: first });
    expect(await send()).toEqual([first]);
    await changeGrantEnd(service, grant.grantId, until + dayMs, { ...context, eventId: second });
    expect(await send()).toEqual([second]);
    await announceGrantEnd(service, { ...context, grantId: grant.grantId }, until + 2 * dayMs);
    expect(await send()).toEqual([undefined]);
  });

  it('names the request that gave credits', async () => {
    const { service, appName, context, createSender } = await givenHarness();
    const gift = { credit: 'coins', amount: 5, idempotencyKey: 'a', reason: 'why' };
    await give(service, gift, { ...context, eventId: first });
    expect(await createSender(toPartition(appName), keys.creditEntryKey.sortKey('P', ''))()).toEqual([first]);
  });

  it('names the event of a payment that gave credits', async () => {
    const { service, appName, createSender, recordUpdate } = await givenHarness();
    const { purchase } = createObservation();
    const transactions = [createTransaction(purchase, { credits: { coins: { perUnit: 5, expires: 'never' } } })];
    const observation = createObservation({}, { transactions });
    const record = await recordUpdate(purchase.purchaseId, buildPurchase('ann', { observation, eventId: first }));
    expect(await settleRecords(service, [record])).toBeUndefined();
    expect(await createSender(toPartition(appName), keys.creditEntryKey.sortKey('P', ''))()).toEqual([first]);
  });

  it('names the notification of a refund request', async () => {
    const { service, appName, createSender, now } = await givenHarness();
    const request = {
      platform: 'store_a' as const,
      purchaseId: 'store_a:1',
      transactionId: 'store_a:1',
      sandbox: false,
      reason: 'UNINTENDED_PURCHASE',
      requestedAt: now,
      deadline: now + dayMs,
      reference: {},
    };
    const { requestId } = await recordRefundRequest(service, appName, { ...request, eventId: first });
    const { pk = '', sk = '' } = keys.parseRefundRequestId(appName, requestId) ?? {};
    expect(await createSender(pk, sk)()).toEqual([first]);
  });
});
