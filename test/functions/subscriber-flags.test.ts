import { afterEach, describe, expect, it } from '@jest/globals';
import { getCustomer, getCustomerSubscription, listCustomers } from '../../lib/customers/contract.ts';
import { addBillingPeriods } from '../../lib/foundation/billing-period.ts';
import { dayMs, secondMs } from '../../lib/foundation/time.ts';
import type { Purchase } from '../../lib/purchases/purchase.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createObservation, type UnrefreshableObservation } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';

const realNow = Date.now;
const table = startBeforeAll(createTestTable);
afterEach(() => {
  Date.now = realNow;
});

const boughtAt = Math.floor(realNow() / secondMs) * secondMs - 20 * dayMs;
const end = boughtAt + 30 * dayMs;

const buildSubscription = (state: Partial<Purchase> = {}): UnrefreshableObservation =>
  createObservation({ purchaseDate: boughtAt, expirationDate: end, ...state });

/** Builds the observation of a purchase without an end. */
function buildPurchaseWithoutEnd(
  productType: NonNullable<Purchase['productType']>,
  state: Partial<Purchase> = {},
): UnrefreshableObservation {
  const { purchase, ...observation } = buildSubscription({ productType, ...state });
  const { expirationDate: _end, ...withoutEnd } = purchase;
  return { ...observation, purchase: withoutEnd };
}

/** Returns the subscriber flags of a customer with these purchases at each time. */
async function readFlagsAt(observations: readonly UnrefreshableObservation[], times: readonly number[]) {
  const { appName, secretKey } = await givenApp(table);
  for (const observation of observations) await givenPurchase(appName, 'ann', observation);
  const headers = buildBasicAuth(appName, secretKey);
  const params = { applicationUsername: 'ann' };
  const flags = [];
  for (const time of times) {
    Date.now = () => time;
    const { customerInfo, purchases } = (await callEndpoint(getCustomer, { headers, params })).body;
    const [row] = (await callEndpoint(listCustomers, { headers })).body.rows;
    const [foundRow] = (await callEndpoint(listCustomers, { headers, query: params })).body.rows;
    const { subscription } = (await callEndpoint(getCustomerSubscription, { headers, params })).body;
    // All endpoints return the same flags at the same time.
    expect([row.customerInfo, foundRow.customerInfo]).toEqual([customerInfo, customerInfo]);
    if (subscription) expect(purchases).toMatchObject({ [subscription.productId]: subscription });
    if (customerInfo.activeSubscriber) expect(subscription.isExpired).toBe(false);
    flags.push(
      customerInfo.activeSubscriber ? 'active' : customerInfo.lapsedSubscriber ? 'lapsed' : 'never subscribed',
    );
    expect(customerInfo.activeSubscriber && customerInfo.lapsedSubscriber).toBe(false);
  }
  return flags;
}

/** The second before a time, the time, and the second after it. */
const secondsAround = (time: number) => [time - secondMs, time, time + secondMs];

describe('subscriber flags', () => {
  it('report an active subscriber until the second of the expiration', async () => {
    expect(await readFlagsAt([buildSubscription()], secondsAround(end))).toEqual(['active', 'lapsed', 'lapsed']);
  });

  it('report an active subscriber until the last subscription expires', async () => {
    const later = buildSubscription({
      purchaseId: 'store_a:2',
      productId: 'store_a:yearly',
      expirationDate: end + 5 * dayMs,
    });
    expect(
      await readFlagsAt([buildSubscription(), later], [...secondsAround(end), ...secondsAround(end + 5 * dayMs)]),
    ).toEqual([...Array(4).fill('active'), ...Array(2).fill('lapsed')]);
  });

  it('report an active subscriber until the end of a grace period', async () => {
    const grace = buildSubscription({ isBillingRetryPeriod: true, expirationDate: end + 3 * dayMs });
    expect(await readFlagsAt([grace], secondsAround(end + 3 * dayMs))).toEqual(['active', 'lapsed', 'lapsed']);
  });

  it('report an active subscriber until the revocation', async () => {
    const refunded = buildSubscription({ endedAt: boughtAt + 5 * dayMs, cancelationReason: 'Customer' });
    expect(await readFlagsAt([refunded], secondsAround(boughtAt + 5 * dayMs))).toEqual(['active', 'lapsed', 'lapsed']);
  });

  it('report an active subscriber of a non-renewing subscription for at most a year, and until it is revoked', async () => {
    const yearEnd = addBillingPeriods(boughtAt, 'P1Y');
    expect(await readFlagsAt([buildPurchaseWithoutEnd('non renewing subscription')], secondsAround(yearEnd))).toEqual([
      'active',
      'lapsed',
      'lapsed',
    ]);
    const refunded = buildPurchaseWithoutEnd('non renewing subscription', { endedAt: boughtAt + dayMs });
    expect(await readFlagsAt([refunded], secondsAround(boughtAt + dayMs))).toEqual(['active', 'lapsed', 'lapsed']);
  });

  it('report a lapsed subscriber while the subscription is paused', async () => {
    expect(
      await readFlagsAt([buildSubscription({ isPaused: true, cancelationReason: 'PAUSED' })], [realNow()]),
    ).toEqual(['lapsed']);
  });

  it.each([
    ['a payment is pending', () => buildSubscription({ isPending: true })],
    ['the first payment was abandoned', () => buildSubscription({ isAbandoned: true, expirationDate: boughtAt })],
    ['the only purchase is a consumable', () => buildPurchaseWithoutEnd('consumable')],
    ['the only purchase is a non-consumable', () => buildPurchaseWithoutEnd('non consumable')],
  ])('report no subscriber if %s', async (_case, build) => {
    expect(await readFlagsAt([build()], secondsAround(end))).toEqual(Array(3).fill('never subscribed'));
  });
});
