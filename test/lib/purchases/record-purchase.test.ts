import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Table } from '../../../lib/db/table.ts';
import { dayMs } from '../../../lib/shared/time.ts';
import { createObservation, createUniqueName, startDate } from '../../../testing/given.ts';
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
});
