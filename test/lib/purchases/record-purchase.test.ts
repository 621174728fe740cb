import { beforeAll, describe, expect, it } from '@jest/globals';
import { findCachedApp } from '../../../lib/apps/app-table.ts';
import { findCachedCatalogue } from '../../../lib/apps/catalogue-table.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import { findStoredPurchase } from '../../../lib/purchases/purchase-table.ts';
import { recordPurchase } from '../../../lib/purchases/record-purchase.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { createService } from '../../../testing/create-service.ts';
import { createObservation, createTransaction, createUniqueName, startDate } from '../../../testing/given.ts';
import { buildLinkInput, buildValidationInput } from '../../../testing/purchase-inputs.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);
let service: Service;
beforeAll(async () => {
  service = createService(table);
});

const purchaseId = 'store_a:1';

/** A validation of the same evidence a day later. */
const repeated = {
  ...buildValidationInput('ann', { ...createObservation({ purchaseId }), asOf: startDate + dayMs }),
  now: startDate + dayMs,
};

/** Wraps the calls of the table that record a repeated validation. */
const wrapTable = (around: (name: 'query' | 'get' | 'update') => Promise<void> | void): Table => ({
  ...table,
  async query(range) {
    const items = await table.query(range);
    await around('query');
    return items;
  },
  async get(key) {
    await around('get');
    return await table.get(key);
  },
  async update(update) {
    await around('update');
    await table.update(update);
  },
});

describe('recordPurchase', () => {
  it('reads the purchase once for a repeated validation without a change', async () => {
    const appName = createUniqueName();
    await recordPurchase(service, appName, purchaseId, buildValidationInput('ann', createObservation({ purchaseId })));
    const calls: string[] = [];
    const counting = createService(wrapTable((name) => void calls.push(name)));
    // The reads of the app and of its catalogue, which the cache has for later requests.
    await Promise.all([findCachedApp(counting, appName), findCachedCatalogue(counting, appName)]);
    calls.splice(0);
    await recordPurchase(counting, appName, purchaseId, repeated);
    expect(calls).toEqual(['query', 'update']);
    expect((await findStoredPurchase(counting, appName, purchaseId))?.state.asOf).toBe(startDate + dayMs);
  });

  it('keeps a claim that is recorded between the read and the write of a repeated validation', async () => {
    const appName = createUniqueName();
    await recordPurchase(service, appName, purchaseId, buildValidationInput('ann', createObservation({ purchaseId })));
    let isInterrupted = false;
    const interrupted = createService(
      wrapTable(async (name) => {
        if (name !== 'query' || isInterrupted) return;
        isInterrupted = true;
        await recordPurchase(service, appName, purchaseId, buildLinkInput('bob'));
      }),
    );
    await recordPurchase(interrupted, appName, purchaseId, repeated);
    const stored = await findStoredPurchase(interrupted, appName, purchaseId);
    expect(stored?.claims.map(({ username }) => username).toSorted()).toEqual(['ann', 'bob']);
    expect(stored?.entitledUsers).toContain('bob');
    expect(stored?.state.asOf).toBe(startDate + dayMs);
  });

  it('announces a renewal once that is observed after the plan change that followed it', async () => {
    const appName = createUniqueName();
    const latest = createObservation({
      transactionId: 'store_a:4',
      productId: 'store_a:yearly',
      purchaseDate: startDate,
      expirationDate: startDate + 365 * dayMs,
    });
    const pay = (number: number, productId: string, day: number, fields: Partial<Transaction> = {}): Transaction =>
      createTransaction(latest.purchase, {
        transactionId: `store_a:${number}`,
        productId: `store_a:${productId}`,
        purchaseDate: startDate + day * dayMs,
        expirationDate: startDate + (day + 30) * dayMs,
        ...fields,
      });
    const bought = pay(1, 'monthly', 0);
    const change = pay(4, 'yearly', 40, { expirationDate: startDate + 365 * dayMs });
    const record = async (asOf: number, transactions: readonly Transaction[], { purchase } = latest) => {
      const observation = { asOf, purchase, transactions, userAliases: [], isOrderedByTransaction: true as const };
      const input = { ...buildValidationInput('ann', observation), now: asOf };
      return (await recordPurchase(service, appName, purchaseId, input))?.change?.lifecycleReasons;
    };
    const looks = [
      await record(startDate, [bought], createObservation({ purchaseId })),
      await record(startDate + 40 * dayMs, [change]),
      await record(startDate + 41 * dayMs, [
        { ...bought, isReplaced: true, refundedAt: startDate + 20 * dayMs },
        change,
      ]),
      await record(startDate + 42 * dayMs, [pay(3, 'weekly', 35, { isRenewal: true }), change]),
      await record(startDate + 43 * dayMs, [pay(5, 'yearly', 42, { isRenewal: true }), change]),
    ];
    expect(looks).toEqual([['PURCHASED'], ['PLAN_CHANGED', 'RENEWED'], ['REFUNDED'], [], ['RENEWED']]);
  });
});
