import { describe, expect, it } from '@jest/globals';
import { changeSettings } from '../../lib/apps/manage-apps.ts';
import { addCustomerPurchase } from '../../lib/customers/claim-contract.ts';
import { getCustomerPurchases, getCustomerTimeline } from '../../lib/customers/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { minuteMs } from '../../lib/foundation/time.ts';
import { getPurchaseOwners, refreshPurchase } from '../../lib/purchases/contract.ts';
import { getPurchaseTimeline } from '../../lib/purchases/timeline-contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { givenReads } from './event-fixture.ts';

const service = startBeforeAll(startTestService);

/** Validates a subscription, renews it twice and refreshes it after each renewal. */
async function givenRenewedPurchase() {
  const keys = await service.createApp(['store_b']);
  const applicationUsername = createUniqueName('user');
  const order = { platform: 'store_b', productId: 'premium', type: 'paid subscription', applicationUsername };
  const { id, validate } = await service.callControl('/purchases', order);
  expect((await service.validate(keys, validate)).body.ok).toBe(true);
  const purchaseId = `store_b:${id}`;
  for (let renewal = 0; renewal < 2; renewal++) {
    await service.callControl(`/purchases/${id}/renew`, {});
    expect(await callWithSecretKey(refreshPurchase, keys, { params: { purchaseId } })).toMatchObject({ status: 200 });
  }
  return { keys, applicationUsername, purchaseId, validate };
}

type Purchase = Awaited<ReturnType<typeof givenRenewedPurchase>>;

const fetchPage = async ({ keys, purchaseId }: Purchase, query: Record<string, string> = {}) =>
  (await callWithSecretKey(getPurchaseTimeline, keys, { params: { purchaseId }, query })).body;
const fetchCustomerPage = async ({ keys, applicationUsername }: Purchase, query: Record<string, string> = {}) =>
  (await callWithSecretKey(getCustomerTimeline, keys, { params: { applicationUsername }, query })).body;

/** Reads all pages. */
async function fetchAll(fetch: typeof fetchPage, purchase: Purchase, limit: string) {
  // biome-ignore lint/suspicious/noExplicitAny: rows have several shapes.
  const rows: any[] = [];
  let cursor: string | undefined = '';
  do {
    const page: Awaited<ReturnType<typeof fetchPage>> = await fetch(purchase, { limit, cursor });
    expect(page.rows.length).toBeLessThanOrEqual(Number(limit));
    rows.push(...page.rows);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return rows;
}

describe('GET /v3/purchases/:purchaseId/timeline', () => {
  it('returns payments, lifecycle notifications, claims and events, newest first, and the age of the state', async () => {
    const purchase = await givenRenewedPurchase();
    const { rows, ...facts } = await fetchPage(purchase);
    expect(facts).toMatchObject({ purchaseId: purchase.purchaseId, canRefresh: true, failedRefreshes: 0 });
    expect(Date.parse(facts.nextRefreshAt)).toBeGreaterThan(getService().now());
    expect(Date.parse(facts.lastRefreshAt)).toBeLessThanOrEqual(getService().now());
    const count = (type: string) => rows.filter((row: { type: string }) => row.type === type).length;
    expect([count('payment'), count('claim')]).toEqual([3, 1]);
    const reasons = rows.flatMap((row: { type: string; reason: string }) =>
      row.type === 'notification' ? row.reason : [],
    );
    expect(reasons).toEqual(['RENEWED', 'RENEWED', 'PURCHASED']);
    const eventTypes = rows.flatMap(({ eventType }: { eventType?: string }) => eventType ?? []);
    expect(eventTypes).toEqual(['receipt.refreshed', 'receipt.refreshed', 'receipt.validated']);
    const dates = rows.map(({ date }: { date: string }) => date);
    expect(dates).toEqual(dates.toSorted().reverse());
  });

  it.each(['1', '2', '5'])('returns every row once in pages of %s', async (limit) => {
    const purchase = await givenRenewedPurchase();
    const { rows } = await fetchPage(purchase);
    expect(await fetchAll(fetchPage, purchase, limit)).toEqual(rows);
  });

  it.each(['x', Buffer.from('1234567890123#nothing').toString('base64url')])(
    'rejects the cursor %s',
    async (cursor) => {
      const purchase = await givenRenewedPurchase();
      const { keys, purchaseId } = purchase;
      const response = await callWithSecretKey(getPurchaseTimeline, keys, {
        params: { purchaseId },
        query: { cursor },
      });
      expect(response).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
    },
  );

  it('rejects a cursor that is longer than a sort key', async () => {
    const { keys, purchaseId } = await givenRenewedPurchase();
    const cursor = Buffer.from(`1234567890123#E#${'x'.repeat(1_100)}`).toString('base64url');
    const request = { params: { purchaseId }, query: { cursor } };
    expect((await callWithSecretKey(getPurchaseTimeline, keys, request)).status).toBe(400);
  });
});

describe('GET /v3/customers/:applicationUsername/timeline', () => {
  it('returns payments and events without reads, newest first, in pages', async () => {
    const purchase = await givenRenewedPurchase();
    const { keys, applicationUsername } = purchase;
    for (let read = 0; read < 3; read++)
      await callWithSecretKey(getCustomerPurchases, keys, { params: { applicationUsername } });
    const { rows } = await fetchCustomerPage(purchase);
    expect(rows.filter(({ type }: { type: string }) => type === 'payment')).toHaveLength(3);
    expect(rows.flatMap(({ eventType }: { eventType?: string }) => eventType ?? [])).toEqual([
      'receipt.refreshed',
      'receipt.refreshed',
      'receipt.validated',
    ]);
    expect(await fetchAll(fetchCustomerPage, purchase, '2')).toEqual(rows);
  });

  it('returns a cursor if it has read 1,000 events without finding a row, and the rows behind it', async () => {
    const purchase = await givenRenewedPurchase();
    const { keys, applicationUsername } = purchase;
    const { rows } = await fetchCustomerPage(purchase);
    const start = getService().now() + minuteMs;
    await givenReads(keys, { start, count: 1_010, tags: { [applicationUsername]: '_A' } });
    expect(await fetchCustomerPage(purchase)).toMatchObject({ rows: [], nextCursor: expect.any(String) });
    expect(await fetchAll(fetchCustomerPage, purchase, '50')).toEqual(rows);
  });
});

describe('GET /v3/purchases/:purchaseId/owners', () => {
  it('returns each claim with its source, and the rule that decides', async () => {
    const { keys, applicationUsername, purchaseId, validate } = await givenRenewedPurchase();
    await changeSettings(getService(), keys.appName, { strategy: 'first' });
    await service.callControl('/clock', { advance: 'PT1M' });
    const other = createUniqueName('other');
    await service.validate(keys, { ...validate, additionalData: { applicationUsername: other } });
    const fetchOwners = async () => (await callWithSecretKey(getPurchaseOwners, keys, { params: { purchaseId } })).body;
    expect(await fetchOwners()).toMatchObject({
      purchaseId,
      strategy: 'first',
      decidedBy: 'strategy',
      entitledUsers: [applicationUsername],
      claims: [
        { applicationUsername, isEntitled: true, source: 'validation' },
        { applicationUsername: other, isEntitled: false, source: 'validation' },
      ],
    });
    const linked = { params: { applicationUsername: other }, body: { purchaseId } };
    expect((await callWithSecretKey(addCustomerPurchase, keys, linked)).status).toBe(200);
    expect(await fetchOwners()).toMatchObject({
      decidedBy: 'manual',
      entitledUsers: [other],
      claims: [{ isEntitled: false }, { isEntitled: true, source: 'manual' }],
    });
  });

  it('names the customer that each alias of the store identifies', async () => {
    const { keys, applicationUsername, purchaseId } = await givenRenewedPurchase();
    const { body } = await callWithSecretKey(getPurchaseOwners, keys, { params: { purchaseId } });
    expect(body.userAliases.length).toBeGreaterThan(0);
    expect(body.userAliases[0]).toEqual({ alias: expect.any(String), applicationUsername });
  });
});
