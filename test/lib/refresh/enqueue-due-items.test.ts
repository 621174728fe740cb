import { describe, expect, it, jest } from '@jest/globals';
import { findGrant } from '../../../lib/entitlements/grant-table.ts';
import { addGrant } from '../../../lib/entitlements/manage-grants.ts';
import { ServiceError } from '../../../lib/foundation/errors.ts';
import { parseKeyTimestamp } from '../../../lib/foundation/key.ts';
import { type DueItem, dueIndexKeys, duePartitions, grantKey, purchaseKey } from '../../../lib/foundation/keys.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import { dayMs, hourMs, minuteMs } from '../../../lib/foundation/time.ts';
import { enqueueDueItems } from '../../../lib/refresh/enqueue-due-items.ts';
import type { PurchaseMessage, RefreshMessage } from '../../../lib/refresh/refresh-message.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { createTestTable } from '../../../testing/table.ts';

interface EnqueuedRefresh extends PurchaseMessage {
  readonly delaySeconds: number;
}

type TestItem = DueItem & { readonly nextCheckAt?: number };

interface WorkerOptions {
  /** Time for which the items have been due. */
  readonly latenessMs?: number;
  readonly isQueueDown?: boolean;
  /** Another worker leases the items at the same time. */
  readonly isConcurrent?: boolean;
  /** The index lists items again after their lease. */
  readonly isIndexStale?: boolean;
}

const now = startDate;

/** Items that a query of one of the 16 shards returns, so that a batch is full. */
const shardPage = 25;

/** Builds the entries of the index, in the order of the items. */
function buildEntries(items: readonly TestItem[], latenessMs: number) {
  const oldest = now - Math.max(latenessMs, items.length);
  return items.map((item, index) => {
    if (item.kind !== 'purchase') throw new Error('Only purchases are listed.');
    const key = purchaseKey(item.appName, item.purchaseId);
    const repetition = item.nextCheckAt && { intervalMs: item.nextCheckAt, until: now + 30 * dayMs };
    const check = item.isIntervalCheck ? { ...(repetition && { repetition }) } : undefined;
    return { ...key, dueSk: dueIndexKeys(key, oldest + index, check).dueSk, dueAt: oldest + index };
  });
}

/**
 * Runs the worker once. Returns the enqueued refreshes, and the leases of the items: since its due time for a check
 * that repeats, otherwise from now on.
 */
async function run(
  items: readonly TestItem[],
  { latenessMs = 0, isQueueDown = false, isConcurrent = false, isIndexStale = false }: WorkerOptions = {},
) {
  const due = buildEntries(items, latenessMs);
  let remainingMs = 3_600_000;
  const [listed, enqueued, leases] = [[...due], [] as EnqueuedRefresh[], new Map<string, number>()];
  const table: Table = {
    ...({} as Table),
    query: async ({ partition }) => {
      const first = duePartitions.indexOf(partition) * shardPage;
      return isIndexStale ? due.slice(first, first + shardPage) : listed.splice(0, shardPage);
    },
    update: async ({ Key, ExpressionAttributeValues }) => {
      if (isConcurrent) throw new ServiceError('Conflict', 'Another worker has leased the item.');
      leases.set(String(Key?.pk), parseKeyTimestamp(String(ExpressionAttributeValues?.[':f0'])));
    },
  };
  const refreshQueue: Service['refreshQueue'] = {
    async send(messages, { delaySeconds = 0 } = {}) {
      if (isQueueDown) throw new Error('The queue is unavailable.');
      for (const message of messages as readonly RefreshMessage[])
        if ('purchaseId' in message) enqueued.push({ ...message, delaySeconds });
    },
  };
  const service = createService(table, { refreshQueue });
  const isCompleted = await enqueueDueItems(service, () => (remainingMs -= 60_000)).then(
    () => true,
    () => false,
  );
  const toLease = ({ pk, dueAt }: (typeof due)[number], index: number): number | undefined => {
    const until = leases.get(pk);
    const isRepeated = items[index]?.nextCheckAt !== undefined && until === dueAt + Number(items[index].nextCheckAt);
    return until === undefined ? undefined : until - (isRepeated ? dueAt : now);
  };
  return { enqueued, leases: due.map(toLease), isCompleted };
}

/** Runs the worker once and returns the enqueued refreshes. */
const enqueue = async (items: readonly TestItem[], latenessMs = 0): Promise<EnqueuedRefresh[]> =>
  (await run(items, { latenessMs })).enqueued;

const createRefreshes = (count: number, prefix: string, isIntervalCheck: boolean): DueItem[] =>
  Array.from({ length: count }, (_, number) => ({
    kind: 'purchase',
    appName: 'shop',
    purchaseId: `${prefix}${number}`,
    isIntervalCheck,
  }));

const countByStore = (enqueued: readonly EnqueuedRefresh[], store: string): number =>
  enqueued.filter(({ purchaseId }) => purchaseId.startsWith(store)).length;

describe('enqueueDueItems', () => {
  it.each([
    [hourMs, 0],
    [hourMs + 1, 1],
  ])('logs once if items were due for more than an hour (%i ms: %i lines)', async (latenessMs, lines) => {
    const log = jest.spyOn(console, 'error').mockImplementation(() => {});
    await enqueue(createRefreshes(1_000, 'store_a:', false), latenessMs);
    const logged = log.mock.calls.map(([entry]) => entry);
    log.mockRestore();
    expect(logged).toEqual(Array(lines).fill(expect.objectContaining({ problem: 'DueItemsLate', app: 'shop' })));
  });

  it('enqueues at most 25 refreshes a second of an app at each store', async () => {
    const enqueued = await enqueue([
      ...createRefreshes(4_000, 'store_a:', false),
      ...createRefreshes(10, 'store_b:', false),
    ]);
    expect([countByStore(enqueued, 'store_a:'), countByStore(enqueued, 'store_b:')]).toEqual([1_500, 10]);
    for (let second = 0; second < 60; second++) {
      const inSecond = enqueued.filter(({ delaySeconds }) => delaySeconds === second);
      expect(countByStore(inSecond, 'store_a:')).toBe(25);
    }
  });

  it('enqueues renewals before interval checks, and all renewals although more interval checks are due', async () => {
    const enqueued = await enqueue([
      ...createRefreshes(300, 'store_a:check', true),
      ...createRefreshes(25, 'store_a:renewal', false),
      ...createRefreshes(4_000, 'store_a:later', true),
      ...createRefreshes(700, 'store_a:renewal-later', false),
    ]);
    expect(enqueued.filter(({ delaySeconds }) => delaySeconds === 0).map(({ purchaseId }) => purchaseId)).toEqual(
      createRefreshes(25, 'store_a:renewal', false).map((item) => item.kind === 'purchase' && item.purchaseId),
    );
    expect(countByStore(enqueued, 'store_a:renewal')).toBe(725);
  });

  const check: TestItem = { kind: 'purchase', appName: 'shop', purchaseId: 'store_a:1', isIntervalCheck: true };
  const repeatedCheck: TestItem = { ...check, purchaseId: 'store_a:2', nextCheckAt: 3 * dayMs };

  it('leases a check that repeats until the next check, and other refreshes for ten minutes', async () => {
    const { enqueued, leases } = await run([repeatedCheck, check]);
    expect(enqueued).toHaveLength(2);
    expect(leases).toEqual([3 * dayMs, 10 * minuteMs]);
  });

  it('does not lease a check that repeats if its message cannot be sent', async () => {
    expect(await run([repeatedCheck], { isQueueDown: true })).toEqual({
      enqueued: [],
      leases: [undefined],
      isCompleted: false,
    });
  });

  it('postpones the checks above the budget by an interval, so that they do not delay renewals', async () => {
    const checks = createRefreshes(800, 'store_a:', true).map((item) => ({ ...item, nextCheckAt: 3 * dayMs }));
    const { enqueued, leases } = await run(checks);
    expect(enqueued).toHaveLength(750);
    expect(leases).toEqual(Array(800).fill(3 * dayMs));
  });

  it('keeps the checks of the Microsoft Store above the budget for ten minutes, because nothing else finds a change', async () => {
    const { enqueued, leases } = await run(createRefreshes(800, 'store_c:', true));
    expect(enqueued).toHaveLength(750);
    expect(leases).toEqual(Array(800).fill(10 * minuteMs));
  });

  it('does not enqueue a refresh of a renewal that another worker has leased', async () => {
    expect((await run([check], { isConcurrent: true })).enqueued).toEqual([]);
  });

  it('enqueues a check once although the index lists it again after its lease', async () => {
    const checks = createRefreshes(400, 'store_a:', true).map((item) => ({ ...item, nextCheckAt: 3 * dayMs }));
    expect((await run(checks, { isIndexStale: true })).enqueued).toHaveLength(400);
  });

  it('announces the ends of the other grants if one is not readable', async () => {
    const appName = createUniqueName();
    // Its own table, because the worker reads the due items of all apps.
    const table = await createTestTable(createUniqueName('due'));
    const request = { entitlement: 'premium', reason: 'a gift', until: now + dayMs };
    const key = { id: 'key', name: 'alice' };
    const usernames = Array.from({ length: 60 }, (_, index) => `user-${index}`);
    const grants = await Promise.all(
      usernames.map(async (username) => {
        const { grant } = await addGrant(createService(table), request, { appName, username, key });
        return grant;
      }),
    );
    const damaged = grants.slice(0, 20);
    for (const { username, grantId } of damaged) {
      const item = await table.get(grantKey(appName, username, grantId));
      await table.batchPut([{ ...item, ...grantKey(appName, username, grantId), entitlement: 7 }]);
    }
    const service = createService(table, { now: () => now + 2 * dayMs });
    await enqueueDueItems(service, () => 60_000);
    const ended = await Promise.all(
      grants.slice(damaged.length).map(async ({ username, grantId }) => {
        return await findGrant(service, appName, { username, grantId });
      }),
    );
    expect(ended.filter((grant) => grant?.endAnnouncedAt === undefined)).toEqual([]);
  });
});
