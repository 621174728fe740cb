import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { getCustomer, getCustomerSubscription, listCustomers } from '../../lib/api/customers.ts';
import type { Table } from '../../lib/db/table.ts';
import type { Purchase } from '../../lib/purchases/purchase.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createObservation, dayMs, givenApp, type UnrefreshableObservation } from '../../testing/given.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { createTestTable } from '../../testing/table.ts';

const realNow = Date.now;
let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});
afterEach(() => {
  Date.now = realNow;
});

const second = 1000;
const boughtAt = Math.floor(realNow() / second) * second - 20 * dayMs;
const end = boughtAt + 30 * dayMs;

const bought = (state: Partial<Purchase> = {}): UnrefreshableObservation =>
  createObservation({ purchaseDate: boughtAt, expirationDate: end, ...state });

/** Builds the observation of a purchase without an end. */
function endless(
  productType: NonNullable<Purchase['productType']>,
  state: Partial<Purchase> = {},
): UnrefreshableObservation {
  const { purchase, ...look } = bought({ productType, ...state });
  const { expirationDate: _end, ...lasting } = purchase;
  return { ...look, purchase: lasting };
}

/** Returns the subscriber flags of a customer with these purchases at each time. */
async function flagsAt(observations: readonly UnrefreshableObservation[], moments: readonly number[]) {
  const { appName, secretKey } = await givenApp(table);
  for (const look of observations) await givenPurchase(appName, 'ann', look);
  const headers = buildBasicAuth(appName, secretKey);
  const params = { applicationUsername: 'ann' };
  const said = [];
  for (const moment of moments) {
    Date.now = () => moment;
    const { customerInfo, purchases } = (await callEndpoint(getCustomer, { headers, params })).body;
    const [row] = (await callEndpoint(listCustomers, { headers })).body.rows;
    const [named] = (await callEndpoint(listCustomers, { headers, query: params })).body.rows;
    const { subscription } = (await callEndpoint(getCustomerSubscription, { headers, params })).body;
    // All endpoints return the same flags at the same time.
    expect([row.customerInfo, named.customerInfo]).toEqual([customerInfo, customerInfo]);
    if (subscription) expect(purchases).toMatchObject({ [subscription.productId]: subscription });
    if (customerInfo.activeSubscriber) expect(subscription.isExpired).toBe(false);
    said.push(customerInfo.activeSubscriber ? 'active' : customerInfo.lapsedSubscriber ? 'lapsed' : 'never subscribed');
    expect(customerInfo.activeSubscriber && customerInfo.lapsedSubscriber).toBe(false);
  }
  return said;
}

const around = (moment: number) => [moment - second, moment, moment + second];

describe('subscriber flags', () => {
  it('report an active subscriber until the second of the expiration', async () => {
    expect(await flagsAt([bought()], around(end))).toEqual(['active', 'lapsed', 'lapsed']);
  });

  it('report an active subscriber until the last subscription expires', async () => {
    const later = bought({ purchaseId: 'store_a:2', productId: 'store_a:yearly', expirationDate: end + 5 * dayMs });
    expect(await flagsAt([bought(), later], [...around(end), ...around(end + 5 * dayMs)])).toEqual([
      ...Array(4).fill('active'),
      ...Array(2).fill('lapsed'),
    ]);
  });

  it('report an active subscriber until the end of a grace period', async () => {
    const grace = bought({ isBillingRetryPeriod: true, expirationDate: end + 3 * dayMs });
    expect(await flagsAt([grace], around(end + 3 * dayMs))).toEqual(['active', 'lapsed', 'lapsed']);
  });

  it('report an active subscriber until the revocation', async () => {
    const refunded = bought({ endedAt: boughtAt + 5 * dayMs, cancelationReason: 'Customer' });
    expect(await flagsAt([refunded], around(boughtAt + 5 * dayMs))).toEqual(['active', 'lapsed', 'lapsed']);
  });

  it('report an active subscriber for an open-ended subscription until it is revoked', async () => {
    const now = realNow();
    expect(await flagsAt([endless('non renewing subscription')], [now, now + 5_000 * dayMs])).toEqual([
      'active',
      'active',
    ]);
    const refunded = endless('non renewing subscription', { endedAt: boughtAt + dayMs });
    expect(await flagsAt([refunded], around(boughtAt + dayMs))).toEqual(['active', 'lapsed', 'lapsed']);
  });

  it('report a lapsed subscriber while the subscription is paused', async () => {
    expect(await flagsAt([bought({ isPaused: true, cancelationReason: 'PAUSED' })], [realNow()])).toEqual(['lapsed']);
  });

  it.each([
    ['a payment is pending', () => bought({ isPending: true })],
    ['the first payment was abandoned', () => bought({ isAbandoned: true, expirationDate: boughtAt })],
    ['the only purchase is a consumable', () => endless('consumable')],
    ['the only purchase is a non-consumable', () => endless('non consumable')],
  ])('report no subscriber if %s', async (_case, build) => {
    expect(await flagsAt([build()], around(end))).toEqual(Array(3).fill('never subscribed'));
  });
});
