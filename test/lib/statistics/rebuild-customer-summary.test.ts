import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { listCustomers } from '../../../lib/api/customers.ts';
import { createCounterRepository } from '../../../lib/db/counter-repository.ts';
import { createCustomerRepository } from '../../../lib/db/customer-repository.ts';
import { customerKey, listPartition } from '../../../lib/db/keys.ts';
import { createPurchaseRepository, parsePurchaseItem } from '../../../lib/db/purchase-repository.ts';
import { createStreamMarkerRepository } from '../../../lib/db/stream-marker-repository.ts';
import type { Table } from '../../../lib/db/table.ts';
import { type Deps, deps } from '../../../lib/deps.ts';
import { isActive, isSubscription } from '../../../lib/purchases/purchase.ts';
import type { EntitledPurchase } from '../../../lib/purchases/purchase-repository.ts';
import { createRecordPurchase } from '../../../lib/purchases/record-purchase.ts';
import { toIsoSeconds } from '../../../lib/purchases/to-records.ts';
import { aggregateStreamRecords } from '../../../lib/statistics/aggregate-stream.ts';
import { rebuildCustomerSummaries } from '../../../lib/statistics/rebuild-customer-summaries.ts';
import { buildBasicAuth, callEndpoint } from '../../../testing/call.ts';
import { createCrashingTable } from '../../../testing/crashing-table.ts';
import { createObservation, dayMs, givenApp, testCipher } from '../../../testing/given.ts';
import { arbitraryHistories, createHistoryRunner, users } from '../../../testing/random-purchase-histories.ts';
import { createRecordedTable } from '../../../testing/recorded-table.ts';
import { type ConsumeNext, createShardConsumer } from '../../../testing/shard-consumer.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
  process.env.MASTER_KEY_ID = 'unused';
});

/** What the aggregator works with, of which each write may be the last before a crash. */
function working(crashes: () => boolean): Deps {
  const crashing = createCrashingTable(table, crashes);
  const purchases = createPurchaseRepository(table, testCipher);
  return {
    counters: createCounterRepository(crashing),
    customers: createCustomerRepository(crashing),
    purchases,
    streamMarkers: createStreamMarkerRepository(crashing),
  } as unknown as Deps;
}

/** All purchases with their owners, read one by one. */
async function purchasesIn(appName: string): Promise<EntitledPurchase[]> {
  const entries = await table.query({ partition: listPartition(appName, 'P'), index: 'byCreated' });
  const items = await Promise.all(entries.map(({ pk, sk }) => table.get({ pk: String(pk), sk: String(sk) })));
  return items.flatMap((item) => (item ? [parsePurchaseItem(item)] : []));
}

/** What the list is to show of a user, from all purchases there are. */
function infoOf(username: string, all: readonly EntitledPurchase[], now: number): object {
  const owned = all.filter(({ entitledUsers }) => entitledUsers.includes(username)).map(({ purchase }) => purchase);
  const [last] = owned.toSorted((a, b) => Number(b.purchaseDate) - Number(a.purchaseDate));
  const { purchaseDate, lastRenewalDate, expirationDate, endedAt, renewalIntent } = last ?? {};
  const shownEnd = endedAt === undefined ? expirationDate : Math.min(endedAt, expirationDate ?? endedAt);
  const activeSubscriber = owned.some((purchase) => isSubscription(purchase) && isActive(purchase, now));
  return {
    ...(last && { lastPurchaseId: last.purchaseId }),
    ...(purchaseDate !== undefined && { lastPurchaseDate: toIsoSeconds(purchaseDate) }),
    ...(lastRenewalDate !== undefined && { lastRenewalDate: toIsoSeconds(lastRenewalDate) }),
    ...(shownEnd !== undefined && { expirationDate: toIsoSeconds(shownEnd) }),
    ...(renewalIntent && { renewalIntent }),
    activeSubscriber,
    lapsedSubscriber: !activeSubscriber && owned.some(isSubscription),
  };
}

const shardCount = 3;
const anyTurns = fc.array(fc.record({ lives: fc.nat(3), shard: fc.nat(shardCount) }), { minLength: 5, maxLength: 20 });
const anySizes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 6 });

describe('the list of customers', () => {
  it('shows what their purchases say, however the stream is cut, repeated, interleaved and crashed into', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryHistories,
        anyTurns,
        anySizes,
        fc.infiniteStream(fc.integer({ min: 0, max: 9 })),
        async ({ strategy, deeds }, turns, sizes, chances) => {
          const keys = await givenApp(table);
          const recorded = createRecordedTable(table, shardCount);
          const from = Date.now() - 25 * dayMs;
          const live = createHistoryRunner(
            createRecordPurchase(createPurchaseRepository(recorded.table, testCipher), deps().exchangeRates),
            keys.appName,
            { strategy, from },
          );
          const crashing = working(() => chances.next().value === 0);
          const consumers = recorded.shards.map((records, index) =>
            createShardConsumer(records, { shard: `shard-${index}`, sizes }),
          );
          const waiting = [...deeds];
          // The shards fall behind, each in its own way, and catch up while purchases go on changing.
          for (const { lives, shard } of turns) {
            const together = shard === shardCount ? consumers : consumers.slice(shard, shard + 1);
            const deeds = waiting.splice(0, lives);
            await Promise.all([
              ...together.map(async (consume) => await consume(crashing)),
              (async () => {
                for (const deed of deeds) await live(deed);
              })(),
            ]);
          }
          for (const deed of waiting) await live(deed);
          const catchUp = async (consume: ConsumeNext) => {
            while (await consume(crashing));
          };
          await Promise.all(consumers.map(catchUp));
          // Some of it once more, as after a success of which the platform did not hear.
          await aggregateStreamRecords(
            recorded.shards[0]?.slice(-4) ?? [],
            'shard-0',
            working(() => false),
          );

          const now = Date.now();
          const [all, known] = await Promise.all([
            purchasesIn(keys.appName),
            Promise.all(users.map((user) => table.get(customerKey(keys.appName, user)))),
          ]);
          const expected = users
            .filter((_user, index) => known[index])
            .map((user) => ({ applicationUsername: user, customerInfo: infoOf(user, all, now) }));
          const headers = buildBasicAuth(keys.appName, keys.secretKey);
          const { body } = await callEndpoint(listCustomers, { headers });
          const named = await callEndpoint(listCustomers, { headers, query: { applicationUsername: users.join(',') } });
          const byName = (rows: { applicationUsername: string }[]) =>
            rows.toSorted((a, b) => (a.applicationUsername < b.applicationUsername ? -1 : 1));
          expect(byName(body.rows)).toEqual(expected);
          expect(body.paging.total).toBe(expected.length);
          expect(named.body.rows).toEqual(expected);
        },
      ),
      { numRuns: 16 },
    );
  }, 120_000);

  it('shows a user who lost the last purchase without one', async () => {
    const keys = await givenApp(table);
    const recorded = createRecordedTable(table, 1);
    const recording = createRecordPurchase(createPurchaseRepository(recorded.table, testCipher), deps().exchangeRates);
    const live = createHistoryRunner(recording, keys.appName, { strategy: 'last', from: Date.now() - dayMs });
    await live({ deed: 'buy', which: 0, user: 'ann', passes: 1 });
    await aggregateStreamRecords(recorded.shards[0]?.splice(0) ?? [], 'shard', deps());
    await live({ deed: 'claim', which: 0, user: 'bob', passes: 1 });
    await aggregateStreamRecords(recorded.shards[0] ?? [], 'shard', deps());
    const { body } = await callEndpoint(listCustomers, { headers: buildBasicAuth(keys.appName, keys.secretKey) });
    expect(body.rows).toMatchObject([
      { applicationUsername: 'ann', customerInfo: { activeSubscriber: false, lapsedSubscriber: false } },
      { applicationUsername: 'bob', customerInfo: { activeSubscriber: true, lastPurchaseId: 'store_a:0' } },
    ]);
    expect(body.rows[0].customerInfo).not.toHaveProperty('lastPurchaseId');
  });

  it('can be mended for all customers at once, and for some', async () => {
    const keys = await givenApp(table);
    const live = createHistoryRunner(deps().recordPurchase, keys.appName, {
      strategy: 'all',
      from: Date.now() - dayMs,
    });
    // No record of this was ever counted.
    await live({ deed: 'buy', which: 0, user: 'ann', passes: 1 });
    await live({ deed: 'buy', which: 2, user: 'bob', passes: 1 });
    await live({ deed: 'claim', which: 0, user: 'eve', passes: 1 });
    expect(await rebuildCustomerSummaries(keys.appName, deps(), ['ann', 'nobody'])).toEqual({
      seen: 1,
      mended: 1,
      unknown: ['nobody'],
    });
    expect(await rebuildCustomerSummaries(keys.appName, deps())).toEqual({ seen: 3, mended: 2, unknown: [] });
    expect(await rebuildCustomerSummaries(keys.appName, deps())).toEqual({ seen: 3, mended: 0, unknown: [] });
    const { body } = await callEndpoint(listCustomers, { headers: buildBasicAuth(keys.appName, keys.secretKey) });
    const all = await purchasesIn(keys.appName);
    expect(body.rows).toEqual(
      users.map((user) => ({ applicationUsername: user, customerInfo: infoOf(user, all, Date.now()) })),
    );
  });

  it('does not bring back a customer who is deleted while the summary is worked out', async () => {
    const { appName } = await givenApp(table);
    const live = createHistoryRunner(deps().recordPurchase, appName, { strategy: 'all', from: Date.now() - dayMs });
    await live({ deed: 'buy', which: 0, user: 'ann', passes: 1 });
    const Key = customerKey(appName, 'ann');
    const outcome = await createCustomerRepository(table).updateSummary(appName, 'ann', async () => {
      await table.transact([{ Delete: { TableName: table.name, Key } }]);
      return [createObservation().purchase];
    });
    expect(outcome).toBeUndefined();
    expect(await table.get(Key)).toBeUndefined();
  });
});
