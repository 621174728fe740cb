import { beforeAll, describe, expect, it } from '@jest/globals';
import { createDueItemRepository } from '../../../lib/db/due-item-repository.ts';
import { purchaseKey } from '../../../lib/foundation/keys.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import type { DueItemRepository } from '../../../lib/refresh/due-item-repository.ts';
import { dayMs, minuteMs } from '../../../lib/shared/time.ts';
import { createObservation, createUniqueName, startDate } from '../../../testing/given.ts';
import { buildValidationInput, createTestPurchases, type TestPurchases } from '../../../testing/purchase-repository.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
let purchases: TestPurchases;
let dueItems: DueItemRepository;
beforeAll(async () => {
  // Lists the due items of all apps.
  table = await createTestTable(createUniqueName('due'));
  purchases = createTestPurchases(table);
  dueItems = createDueItemRepository(table);
});

const dueAt = startDate + 3 * dayMs;
const now = dueAt + minuteMs;
const id = 'store_a:1';
const refreshed = (purchase: Partial<Purchase> = {}, asOf = now) => ({
  ...createObservation(purchase, { asOf }),
  refreshToken: { token: 'x' },
});

/** Stores a subscription whose interval check is due. Returns the app and its due item. */
async function givenDueCheck(purchase: Partial<Purchase> = {}) {
  const appName = createUniqueName();
  await purchases.recordPurchase(appName, id, buildValidationInput('ann', refreshed(purchase, startDate)));
  const [item] = await listDue(appName, now);
  if (!item) throw new Error('Nothing is due.');
  return { appName, item };
}

const listDue = async (appName: string, at: number) =>
  (await dueItems.list(at, 400)).filter((item) => item.appName === appName);

const readSortKey = async (appName: string) => (await table.get(purchaseKey(appName, id)))?.dueSk;

describe('createDueItemRepository', () => {
  it('lists a check with the time of the next one', async () => {
    const { item } = await givenDueCheck();
    expect(item).toMatchObject({ isIntervalCheck: true, dueAt, nextCheckAt: dueAt + 3 * dayMs });
  });

  it('keeps the lease of a check when the refresh finds no change', async () => {
    const { appName, item } = await givenDueCheck();
    expect(await dueItems.lease(item, dueAt + 3 * dayMs)).toBe(true);
    const leased = await readSortKey(appName);
    expect(await listDue(appName, now)).toEqual([]);
    const { change } = (await purchases.recordPurchase(appName, id, {
      trigger: 'refresh',
      strategy: 'all',
      now,
      observation: refreshed(),
    })) ?? { change: undefined };
    expect(change?.after.lastRefreshAt).toBe(now);
    expect(await readSortKey(appName)).toBe(leased);
  });

  it('lists the check again after its lease if no refresh was made', async () => {
    const { appName, item } = await givenDueCheck();
    await dueItems.lease(item, dueAt + 3 * dayMs);
    expect(await listDue(appName, dueAt + 3 * dayMs)).toMatchObject([{ nextCheckAt: dueAt + 6 * dayMs }]);
  });

  it('moves a leased check if the refresh finds an earlier end', async () => {
    const { appName, item } = await givenDueCheck();
    await dueItems.lease(item, dueAt + 3 * dayMs);
    await purchases.recordPurchase(appName, id, {
      trigger: 'refresh',
      strategy: 'all',
      now,
      observation: refreshed({ expirationDate: now + dayMs }),
    });
    expect(await listDue(appName, now + dayMs + 5_000)).toMatchObject([{ isIntervalCheck: false }]);
  });

  it('lists no next check if the period ends before it', async () => {
    const { item } = await givenDueCheck({ expirationDate: startDate + 5 * dayMs });
    expect(item).toMatchObject({ isIntervalCheck: true });
    expect(item).not.toHaveProperty('nextCheckAt');
  });

  it('leases an item once', async () => {
    const { appName, item } = await givenDueCheck();
    const leases = [dueItems.lease(item, dueAt + 3 * dayMs), dueItems.lease(item, now + minuteMs)];
    expect((await Promise.all(leases)).toSorted()).toEqual([false, true]);
    expect(await listDue(appName, now)).toEqual([]);
  });

  it('does not lease a check that a concurrent update has moved', async () => {
    const { appName, item } = await givenDueCheck();
    await purchases.recordPurchase(appName, id, {
      ...buildValidationInput('ann', refreshed()),
      now,
    });
    const moved = await readSortKey(appName);
    expect(await dueItems.lease(item, dueAt + 3 * dayMs)).toBe(false);
    expect(await readSortKey(appName)).toBe(moved);
  });

  it('reads a check that an earlier release has scheduled', async () => {
    const { appName, item } = await givenDueCheck();
    const stored = await table.get(purchaseKey(appName, id));
    await table.batchPut([{ ...stored, dueSk: `${dueAt}#I` }]);
    const [earlier] = await listDue(appName, now);
    const { nextCheckAt: _next, ...check } = item;
    expect(earlier).toEqual({ ...check, indexKey: { ...item.indexKey, dueSk: `${dueAt}#I` } });
  });
});
