import { beforeAll, describe, expect, it } from '@jest/globals';
import { purchaseKey } from '../../../lib/foundation/keys.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import { dayMs, minuteMs } from '../../../lib/foundation/time.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import { leaseDueItem, listDueItems } from '../../../lib/refresh/due-item-table.ts';
import { createService } from '../../../testing/create-service.ts';
import { createObservation, createUniqueName, startDate } from '../../../testing/given.ts';
import { recordObservation } from '../../../testing/purchase-inputs.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
let service: Service;
beforeAll(async () => {
  // Lists the due items of all apps.
  table = await createTestTable(createUniqueName('due'));
  service = createService(table);
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
  await recordObservation(service, appName, { username: 'ann', observation: refreshed(purchase, startDate) });
  const [item] = await listDue(appName, now);
  if (!item) throw new Error('Nothing is due.');
  return { appName, item };
}

const listDue = async (appName: string, at: number) =>
  (await listDueItems(service, at, 400)).filter((item) => item.appName === appName);

const readSortKey = async (appName: string) => (await table.get(purchaseKey(appName, id)))?.dueSk;

describe('listDueItems and leaseDueItem', () => {
  it('lists a check with the time of the next one', async () => {
    const { item } = await givenDueCheck();
    expect(item).toMatchObject({ isIntervalCheck: true, dueAt, nextCheckAt: dueAt + 3 * dayMs });
  });

  it('keeps the lease of a check when the refresh finds no change', async () => {
    const { appName, item } = await givenDueCheck();
    expect(await leaseDueItem(service, item, dueAt + 3 * dayMs)).toBe(true);
    const leased = await readSortKey(appName);
    expect(await listDue(appName, now)).toEqual([]);
    const result = await recordObservation(service, appName, { trigger: 'refresh', observation: refreshed(), now });
    expect(result?.change?.after.lastRefreshAt).toBe(now);
    expect(await readSortKey(appName)).toBe(leased);
  });

  it('lists the check again after its lease if no refresh was made', async () => {
    const { appName, item } = await givenDueCheck();
    await leaseDueItem(service, item, dueAt + 3 * dayMs);
    expect(await listDue(appName, dueAt + 3 * dayMs)).toMatchObject([{ nextCheckAt: dueAt + 6 * dayMs }]);
  });

  it('moves a leased check if the refresh finds an earlier end', async () => {
    const { appName, item } = await givenDueCheck();
    await leaseDueItem(service, item, dueAt + 3 * dayMs);
    const observation = refreshed({ expirationDate: now + dayMs });
    await recordObservation(service, appName, { trigger: 'refresh', observation, now });
    expect(await listDue(appName, now + dayMs + 5_000)).toMatchObject([{ isIntervalCheck: false }]);
  });

  it('lists no next check if the period ends before it', async () => {
    const { item } = await givenDueCheck({ expirationDate: startDate + 5 * dayMs });
    expect(item).toMatchObject({ isIntervalCheck: true });
    expect(item).not.toHaveProperty('nextCheckAt');
  });

  it('leases an item once', async () => {
    const { appName, item } = await givenDueCheck();
    const leases = [leaseDueItem(service, item, dueAt + 3 * dayMs), leaseDueItem(service, item, now + minuteMs)];
    expect((await Promise.all(leases)).toSorted()).toEqual([false, true]);
    expect(await listDue(appName, now)).toEqual([]);
  });

  it('does not lease a check that a concurrent update has moved', async () => {
    const { appName, item } = await givenDueCheck();
    await recordObservation(service, appName, { username: 'ann', observation: refreshed(), now });
    const moved = await readSortKey(appName);
    expect(await leaseDueItem(service, item, dueAt + 3 * dayMs)).toBe(false);
    expect(await readSortKey(appName)).toBe(moved);
  });

  it('reads a check that an earlier release has scheduled', async () => {
    const { appName, item } = await givenDueCheck();
    const stored = await table.get(purchaseKey(appName, id));
    await table.batchPut([{ ...stored, dueSk: `${dueAt}#I` }]);
    const [earlier] = await listDue(appName, now);
    const { nextCheckAt: _next, postponedTo: _postponed, ...check } = item;
    expect(earlier).toEqual({ ...check, indexKey: { ...item.indexKey, dueSk: `${dueAt}#I` } });
  });
});
