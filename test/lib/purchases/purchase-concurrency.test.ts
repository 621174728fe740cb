import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { purchaseKey } from '../../../lib/foundation/keys.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import type { Item, Table } from '../../../lib/foundation/table.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import { listRepresentativePurchases } from '../../../lib/purchases/owned-purchase-table.ts';
import type { RecordPurchaseInput } from '../../../lib/purchases/prepare-update.ts';
import {
  findPurchase,
  findPurchaseForChange,
  isPartHandled,
  listAnnouncements,
  listTransactionsOfPurchases,
} from '../../../lib/purchases/purchase-table.ts';
import { recordPurchase } from '../../../lib/purchases/record-purchase.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { createService } from '../../../testing/create-service.ts';
import {
  createObservation,
  createTransaction,
  createUniqueName,
  startDate,
  type UnrefreshableObservation,
} from '../../../testing/given.ts';
import { buildLinkInput, buildValidationInput, recordObservation } from '../../../testing/purchase-inputs.ts';
import { sampleRuns } from '../../../testing/sample.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);
let service: Service;
beforeAll(async () => {
  service = createService(table);
});

const id = 'store_a:1';

const withoutAmount = ({ currency, amountMicros, ...transaction }: Transaction): Transaction => transaction;
const withTransactions = (
  observation: UnrefreshableObservation,
  transactions: readonly Transaction[],
): UnrefreshableObservation => ({ ...observation, transactions });

describe('recordPurchase with an older observation', () => {
  it.each([
    ['no amount', {}],
    ["the client's amount", { currency: 'USD', amountMicros: 5, isReportedAmount: true }],
  ])('adds the amount of the store to a transaction with %s', async (_what, amount) => {
    const appName = createUniqueName();
    const later = createObservation({}, { asOf: startDate + 60_000 });
    const first = later.transactions.map((transaction) => ({ ...withoutAmount(transaction), ...amount }));
    await recordPurchase(service, appName, id, buildValidationInput('ann', withTransactions(later, first)));
    await recordObservation(service, appName, {
      trigger: 'notification',
      now: startDate + 61_000,
      notificationPart: { platform: 'store_a', key: 'push', isPartOfSeveral: false },
    });
    expect(await listTransactionsOfPurchases(service, appName, [id])).toMatchObject([{ amountMicros: 4_990_000 }]);
  });
});

describe('recordPurchase with two aliases of one user', () => {
  const hex = createHash('md5').update('ann').digest('hex');
  const uuid = hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-3$3-8$4-$5');

  it.each([[[hex, hex]], [[hex, uuid]]])(
    'claims a purchase with both aliases in one observation: %j',
    async (userAliases) => {
      const appName = createUniqueName();
      const observation = createObservation({}, { userAliases });
      await recordObservation(service, appName, { trigger: 'notification', observation });
      await recordPurchase(service, appName, id, buildValidationInput('ann'));
      expect((await findPurchase(service, appName, id))?.entitledUsers).toEqual(['ann']);
    },
  );

  it('claims a purchase with the aliases in two observations', async () => {
    const appName = createUniqueName();
    for (const token of [hex, uuid])
      await recordObservation(service, appName, { observation: createObservation({}, { userAliases: [token] }) });
    await recordPurchase(service, appName, id, buildValidationInput('ann'));
    expect((await findPurchase(service, appName, id))?.entitledUsers).toEqual(['ann']);
  });
});

describe('recordPurchase', () => {
  it('marks exactly the versions without an announcement, which the stream does not pass to the fan-out', async () => {
    const appName = createUniqueName();
    const marks: [number, unknown, boolean][] = [];
    const record = async (input: RecordPurchaseInput) => {
      await recordPurchase(service, appName, id, input);
      const { version, isUnannounced, announcedReasons } = (await table.get(purchaseKey(appName, id))) ?? {};
      marks.push([Number(version), isUnannounced, (announcedReasons as unknown[]).length > 0]);
    };
    const refresh = (days: number, expirationDays: number): RecordPurchaseInput => {
      const now = startDate + days * dayMs;
      const observation = createObservation({ expirationDate: startDate + expirationDays * dayMs }, { asOf: now });
      return { trigger: 'refresh', strategy: 'all', now, observation };
    };
    await record(buildValidationInput('ann'));
    await record(refresh(1, 31));
    await record(buildLinkInput('bob'));
    await record(refresh(32, 62));
    await record(refresh(33, 62));
    // A new alias changes the purchase, without a reason to announce.
    await record({ ...refresh(34, 62), observation: { ...createObservation(), userAliases: ['alias'] } });
    expect(marks.map(([version]) => version)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(marks.map(([, isUnannounced]) => isUnannounced)).toEqual(
      marks.map(([, , isAnnounced]) => (isAnnounced ? undefined : true)),
    );
    expect(marks.map(([, , isAnnounced]) => isAnnounced)).toEqual([true, false, true, true, false, false]);
  });
});

describe('recordPurchase before an expiration is announced', () => {
  it.each([
    ['can be refreshed', { refreshToken: { token: 'x' } }],
    ['cannot be refreshed', {}],
  ])('keeps the due date if a subscription that %s is linked after its expiration', async (_what, fields) => {
    const appName = createUniqueName();
    await recordPurchase(
      service,
      appName,
      id,
      buildValidationInput('ann', { ...createObservation({ renewalIntent: 'Lapse' }), ...fields }),
    );
    const result = await recordPurchase(service, appName, id, buildLinkInput('bob', startDate + 31 * dayMs + 3_000));
    expect(result?.change?.lifecycleReasons).toEqual([]);
    expect((await table.get(purchaseKey(appName, id)))?.dueSk).toBeDefined();
  });
});

describe('recordPurchase with concurrent claims', () => {
  it('keeps a claim that is written while the purchase is loaded', async () => {
    const appName = createUniqueName();
    await recordPurchase(service, appName, id, buildValidationInput('ann'));
    let isFirst = true;
    const slow = createService({
      ...table,
      query: async (range) => {
        const itemsBefore = await table.query(range);
        if (!isFirst || !range.partition.includes('#P#')) return itemsBefore;
        isFirst = false;
        await recordPurchase(service, appName, id, buildValidationInput('bob'));
        const itemsAfter = await table.query(range);
        const isClaim = ({ sk }: Item) => String(sk) < 'P';
        return [...itemsBefore.filter(isClaim), ...itemsAfter.filter((item) => !isClaim(item))];
      },
    });
    await recordPurchase(slow, appName, id, buildValidationInput('cy'));
    expect((await findPurchase(service, appName, id))?.entitledUsers.toSorted()).toEqual(['ann', 'bob', 'cy']);
    expect(await listRepresentativePurchases(service, appName, 'bob')).toHaveLength(1);
  });

  it('entitles the user of the last link, even if the clock of its writer is behind', async () => {
    const appName = createUniqueName();
    await recordPurchase(service, appName, id, buildValidationInput('ann'));
    await recordPurchase(service, appName, id, buildLinkInput('bob', startDate + dayMs));
    await recordPurchase(service, appName, id, buildLinkInput('cy', startDate + dayMs - 5));
    expect((await findPurchase(service, appName, id))?.entitledUsers).toEqual(['cy']);
  });
});

/**
 * Creates a table for concurrent writers, all of which read before any of them writes: the worst case of optimistic
 * locking. Each writer calls `leave` at its end.
 */
function createLockstepTable(writers: number): { table: Table; leave: () => void } {
  let active = writers;
  let waiting: (() => void)[] = [];
  const release = () => {
    if (waiting.length < active) return;
    const released = waiting;
    waiting = [];
    for (const resume of released) resume();
  };
  return {
    table: {
      ...table,
      transact: async (writes) => {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          release();
        });
        await table.transact(writes);
      },
    },
    leave: () => {
      active -= 1;
      release();
    },
  };
}

describe('recordPurchase with a store notification', () => {
  const now = startDate + dayMs;
  const notificationOf = (key: string, isPartOfSeveral = false): RecordPurchaseInput => ({
    trigger: 'notification',
    observation: createObservation({ renewalIntent: 'Lapse' }, { asOf: now }),
    strategy: 'all',
    now,
    notificationPart: { platform: 'store_a', key, isPartOfSeveral },
  });

  it('handles a notification once if several workers process it at the same time', async () => {
    const appName = createUniqueName();
    await recordPurchase(service, appName, id, buildValidationInput('ann'));
    const lockstep = createLockstepTable(3);
    const workers = Array.from({ length: 3 }, async () => {
      const worker = createService(lockstep.table);
      return await recordPurchase(worker, appName, id, notificationOf('push')).finally(lockstep.leave);
    });
    const results = await Promise.all(workers);
    expect(results.filter((result) => result?.change)).toHaveLength(1);
    expect(await listAnnouncements(service, appName, id)).toMatchObject([
      { reason: 'PURCHASED' },
      { reason: 'WILL_LAPSE' },
    ]);
    expect((await table.get(purchaseKey(appName, id)))?.version).toBe(2);
  });

  it('marks a notification without a change once', async () => {
    const appName = createUniqueName();
    await recordPurchase(service, appName, id, buildValidationInput('ann'));
    await recordPurchase(service, appName, id, notificationOf('first'));
    for (const key of ['second', 'second']) await recordPurchase(service, appName, id, notificationOf(key));
    expect(
      await isPartHandled(service, appName, id, { platform: 'store_a', key: 'second', isPartOfSeveral: false }),
    ).toBe(true);
  });

  it.each([
    [false, 0],
    [true, 1],
  ])(
    'reads the marker of a part, and that of a whole notification after a conflict only (%s)',
    async (isPart, reads) => {
      const appName = createUniqueName();
      await recordPurchase(service, appName, id, buildValidationInput('ann'));
      let markerReads = 0;
      const counting = createService({
        ...table,
        get: async (key) => {
          if (key.pk.includes('#K#')) markerReads++;
          return await table.get(key);
        },
      });
      await recordPurchase(counting, appName, id, notificationOf('push', isPart));
      expect(markerReads).toBe(reads);
    },
  );
});

describe('recordPurchase with many validations in lockstep', () => {
  const record = async (appName: string, usernames: readonly string[]) => {
    const lockstep = createLockstepTable(usernames.length);
    const container = createService(lockstep.table);
    const results = await Promise.allSettled(
      usernames.map(
        async (username) =>
          await recordPurchase(container, appName, id, buildValidationInput(username)).finally(lockstep.leave),
      ),
    );
    return results.filter(({ status }) => status === 'rejected');
  };
  // More than the ten attempts of a writer.
  const { numRuns: writers } = sampleRuns({ sample: 16, full: 50 });
  const usernames = Array.from({ length: writers }, (_, index) => `user-${index}`);

  it('entitles all users and leaves no shared claim', async () => {
    const appName = createUniqueName();
    expect(await record(appName, usernames)).toEqual([]);
    expect((await findPurchase(service, appName, id))?.entitledUsers.toSorted()).toEqual(usernames.toSorted());
    for (const username of usernames)
      expect(await listRepresentativePurchases(service, appName, username)).toHaveLength(1);
    expect((await findPurchaseForChange(service, appName, id))?.sharedClaims).toEqual([]);
  });

  it('writes one version for many devices of one user', async () => {
    const appName = createUniqueName();
    expect(
      await record(
        appName,
        usernames.map(() => 'ann'),
      ),
    ).toEqual([]);
    expect(await findPurchaseForChange(service, appName, id)).toMatchObject({ version: 1, entitledUsers: ['ann'] });
  });

  it('entitles the one user that is stored first with the strategy "first"', async () => {
    const appName = createUniqueName();
    await recordPurchase(service, appName, id, { ...buildValidationInput('ann'), strategy: 'first', now: startDate });
    const late = { ...buildValidationInput('bob'), strategy: 'first', now: startDate - 1 } as const;
    expect((await recordPurchase(service, appName, id, late))?.stored.entitledUsers).toEqual(['ann']);
  });
});

describe('recordPurchase with a refund in a split change', () => {
  it('records the refund if another writer interferes between the writes', async () => {
    const appName = createUniqueName();
    const base = createObservation();
    const latest = createTransaction(base.purchase);
    const month = 31 * dayMs;
    const older = Array.from({ length: 120 }, (_, index) => {
      const purchaseDate = startDate - (200 - index) * month;
      return createTransaction(base.purchase, {
        transactionId: `store_a:h${index}`,
        purchaseDate,
        expirationDate: purchaseDate + month,
      });
    });
    const first = withTransactions(base, [...older.map(withoutAmount), latest]);
    await recordObservation(service, appName, { username: 'ann', observation: first });
    let writes = 0;
    const raced = createService({
      ...table,
      transact: async (batch) => {
        writes += 1;
        if (writes === 2) await recordPurchase(service, appName, id, buildValidationInput('bob'));
        await table.transact(batch);
      },
    });
    const refunded = older.map((transaction, index) =>
      index === 0 ? { ...transaction, refundedAt: startDate + dayMs } : transaction,
    );
    const observation = withTransactions({ ...base, asOf: startDate + dayMs }, [...refunded, latest]);
    await recordObservation(raced, appName, { trigger: 'notification', observation, now: startDate + dayMs });
    expect(writes).toBeGreaterThan(2);
    const reasons = (await listAnnouncements(service, appName, id)).map(({ reason }) => reason);
    expect(reasons).toEqual(['PURCHASED', 'RENEWED', 'REFUNDED']);
  });
});
