import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Table } from '../../../lib/foundation/table.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { dayMs } from '../../../lib/shared/time.ts';
import { createObservation, createTransaction, createUniqueName, startDate } from '../../../testing/given.ts';
import { buildLinkInput, buildValidationInput, createTestPurchases } from '../../../testing/purchase-repository.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
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
    await createTestPurchases(table).recordPurchase(
      appName,
      purchaseId,
      buildValidationInput('ann', createObservation({ purchaseId })),
    );
    const calls: string[] = [];
    const counting = createTestPurchases(wrapTable((name) => void calls.push(name)));
    await counting.recordPurchase(appName, purchaseId, repeated);
    expect(calls).toEqual(['query', 'update']);
    expect((await counting.findStored(appName, purchaseId))?.state.asOf).toBe(startDate + dayMs);
  });

  it('keeps a claim that is recorded between the read and the write of a repeated validation', async () => {
    const appName = createUniqueName();
    const { recordPurchase } = createTestPurchases(table);
    await recordPurchase(appName, purchaseId, buildValidationInput('ann', createObservation({ purchaseId })));
    let isInterrupted = false;
    const interrupted = createTestPurchases(
      wrapTable(async (name) => {
        if (name !== 'query' || isInterrupted) return;
        isInterrupted = true;
        await recordPurchase(appName, purchaseId, buildLinkInput('bob'));
      }),
    );
    await interrupted.recordPurchase(appName, purchaseId, repeated);
    const stored = await interrupted.findStored(appName, purchaseId);
    expect(stored?.claims.map(({ username }) => username).toSorted()).toEqual(['ann', 'bob']);
    expect(stored?.entitledUsers).toContain('bob');
    expect(stored?.state.asOf).toBe(startDate + dayMs);
  });

  it('announces a renewal once that is observed after the plan change that followed it', async () => {
    const appName = createUniqueName();
    const { recordPurchase } = createTestPurchases(table);
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
      return (await recordPurchase(appName, purchaseId, input))?.change?.lifecycleReasons;
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
