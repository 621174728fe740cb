import { describe, expect, it } from '@jest/globals';
import pMap from 'p-map';
import * as api from '../../lib/customers/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { purchaseKey } from '../../lib/foundation/keys.ts';
import { dayMs, minuteMs } from '../../lib/foundation/time.ts';
import { listPurchases } from '../../lib/purchases/contract.ts';
import type { Purchase } from '../../lib/purchases/purchase.ts';
import { aggregateStreamRecords } from '../../lib/statistics/aggregate-stream.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation, startDate } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { recordObservation } from '../../testing/purchase-inputs.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { buildStreamRecord } from '../../testing/stream-records.ts';

startBeforeAll(startTestService);

const username = 'guest';
const products = 5;

/** Records consumables of five products and one subscription, each bought a minute after the previous one. */
async function givenPurchases(appName: string, count: number): Promise<void> {
  const purchases = Array.from({ length: count }, (_, index) =>
    createObservation(
      index === 0
        ? { purchaseId: 'store_a:subscription', expirationDate: Date.now() + 30 * dayMs }
        : buildConsumable(index),
    ),
  );
  await pMap(
    purchases,
    async (observation) => await recordObservation(getService(), appName, { username, observation }),
    { concurrency: 8 },
  );
}

const buildConsumable = (index: number): Partial<Purchase> => ({
  purchaseId: `store_a:${index}`,
  transactionId: `store_a:${index}`,
  productId: `store_a:coins-${index % products}`,
  productType: 'consumable',
  purchaseDate: startDate + index * minuteMs,
  isConsumed: true,
});

/** Returns the read units that the run consumes. */
async function measureReads<T>(run: () => Promise<T>): Promise<{ result: T; units: number }> {
  const { consumed } = getService().table;
  const before = consumed.read;
  const result = await run();
  return { result, units: consumed.read - before };
}

describe('customer with many purchases', () => {
  it('costs the same to read and to summarize as a customer with few', async () => {
    const measure = async (count: number) => {
      const keys = await givenApp(getService().table);
      await givenPurchases(keys.appName, count);
      const get = async (contract: Parameters<typeof callWithSecretKey>[0], query: Record<string, string> = {}) =>
        await measureReads(
          async () => await callWithSecretKey(contract, keys, { params: { applicationUsername: username }, query }),
        );
      const after = await getService().table.get(purchaseKey(keys.appName, 'store_a:1'));
      const record = buildStreamRecord({ ...(after && { after }) }, count);
      return {
        customer: await get(api.getCustomer, { limit: '20' }),
        purchases: await get(api.getCustomerPurchases),
        subscription: await get(api.getCustomerSubscription),
        transactions: await get(api.getCustomerTransactions, { limit: '20' }),
        access: await get(listPurchases, { customerId: username, active: 'true' }),
        aggregator: await measureReads(async () => await aggregateStreamRecords(getService(), [record], 'shard-0')),
      };
    };
    const [few, many] = [await measure(105), await measure(150)];
    expect(Object.keys(many.purchases.result.body.purchases)).toHaveLength(products + 1);
    expect(many.customer.result.body.customerInfo).toMatchObject({ lastPurchaseId: 'store_a:149' });
    expect(many.subscription.result.body.subscription).toMatchObject({ purchaseId: 'store_a:subscription' });
    expect(many.transactions.result.body.transactions[0]).toMatchObject({ transactionId: 'store_a:149' });
    const onlyActive = { paging: { total: 1 }, rows: [{ purchaseId: 'store_a:subscription' }] };
    expect(many.access.result.body).toMatchObject(onlyActive);
    for (const name of ['access', 'customer', 'purchases', 'subscription', 'transactions', 'aggregator'] as const) {
      expect({ name, isBounded: many[name].units <= few[name].units + 5 }).toEqual({ name, isBounded: true });
    }
  });
});
