import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { listCustomers } from '../../../lib/customers/contract.ts';
import { findCustomerNames, updateCustomerSummary } from '../../../lib/customers/customer-table.ts';
import { getService } from '../../../lib/foundation/get-service.ts';
import { createdLists, customerIndexKeys, customerKey, nameWordList } from '../../../lib/foundation/keys.ts';
import { dayMs, type EpochMillis, minuteMs, toIsoSeconds } from '../../../lib/foundation/time.ts';
import { isActive, isSubscription } from '../../../lib/purchases/purchase.ts';
import { parsePurchaseItem } from '../../../lib/purchases/purchase-item.ts';
import type { EntitledPurchase } from '../../../lib/purchases/stored-purchase.ts';
import { aggregateStreamRecords } from '../../../lib/statistics/aggregate-stream.ts';
import { rebuildCustomerSummaries } from '../../../lib/statistics/rebuild-customer-summaries.ts';
import { buildBasicAuth, callEndpoint } from '../../../testing/call.ts';
import { createService } from '../../../testing/create-service.ts';
import { createObservation } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { arbitraryHistories, createHistoryRunner, users } from '../../../testing/random-purchase-histories.ts';
import { createRecordedTable } from '../../../testing/recorded-table.ts';
import { sampleRuns } from '../../../testing/sample.ts';
import { type ConsumeNext, createShardConsumer } from '../../../testing/shard-consumer.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';
import { createAggregationService } from './aggregation-service.ts';

const table = startBeforeAll(createTestTable);
beforeAll(async () => {
  process.env.MASTER_KEY_ID = 'unused';
});

/** Reads all purchases of an app one by one. */
async function readPurchases(appName: string): Promise<EntitledPurchase[]> {
  const lists = createdLists.purchases
    .partitions(appName)
    .map((partition) => table.query({ partition, index: 'byCreated' }));
  const entries = (await Promise.all(lists)).flat();
  const items = await Promise.all(entries.map(({ pk, sk }) => table.get({ pk: String(pk), sk: String(sk) })));
  return items.flatMap((item) => (item ? [parsePurchaseItem(item)] : []));
}

/** Computes the expected `customerInfo` from all purchases of the app. */
function computeCustomerInfo(username: string, purchases: readonly EntitledPurchase[], now: EpochMillis): object {
  const owned = purchases
    .filter(({ entitledUsers }) => entitledUsers.includes(username))
    .map(({ purchase }) => purchase);
  const [last] = owned.toSorted((a, b) => Number(b.purchaseDate) - Number(a.purchaseDate));
  const { purchaseDate, lastRenewalDate, expirationDate, endedAt, renewalIntent, isTrialPeriod } = last ?? {};
  const visibleExpiration = endedAt === undefined ? expirationDate : Math.min(endedAt, expirationDate ?? endedAt);
  const activeSubscriber = owned.some((purchase) => isSubscription(purchase) && isActive(purchase, now));
  return {
    ...(last && { lastPurchaseId: last.purchaseId }),
    ...(purchaseDate !== undefined && { lastPurchaseDate: toIsoSeconds(purchaseDate) }),
    ...(lastRenewalDate !== undefined && { lastRenewalDate: toIsoSeconds(lastRenewalDate) }),
    ...(visibleExpiration !== undefined && { expirationDate: toIsoSeconds(visibleExpiration) }),
    ...(renewalIntent && { renewalIntent }),
    ...(isTrialPeriod && { isTrialPeriod }),
    activeSubscriber,
    lapsedSubscriber: !activeSubscriber && owned.some(isSubscription),
  };
}

const sortByUsername = (rows: readonly { applicationUsername: string }[]) =>
  rows.toSorted((a, b) => (a.applicationUsername < b.applicationUsername ? -1 : 1));

const shardCount = 3;

/** One turn: the aggregator reads one shard, or all of them for `shardCount`, while the history runs some steps. */
const arbitraryTurns = fc.array(fc.record({ stepCount: fc.nat(3), shard: fc.nat(shardCount) }), {
  minLength: 5,
  maxLength: 20,
});
const arbitraryBatchSizes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 6 });

/** A tenth of the updates crash, on average. */
const arbitraryCrashes = fc.infiniteStream(fc.integer({ min: 0, max: 9 }).map((digit) => digit === 0));

describe('aggregateStreamRecords (customer summaries)', () => {
  it(
    'updates the summaries correctly for any batches, repetitions, interleaving and crashes',
    async () => {
      const property = fc.asyncProperty(
        arbitraryHistories,
        arbitraryTurns,
        arbitraryBatchSizes,
        arbitraryCrashes,
        async ({ strategy, steps }, turns, batchSizes, crashes) => {
          const keys = await givenApp(table);
          const recorded = createRecordedTable(table, shardCount);
          const runStep = createHistoryRunner(createService(recorded.table), keys.appName, {
            strategy,
            from: Date.now() - 25 * dayMs,
          });
          const crashingService = createAggregationService(table, () => crashes.next().value);
          const consumers = recorded.shards.map((records, index) =>
            createShardConsumer(records, { shard: `shard-${index}`, sizes: batchSizes }),
          );
          const remainingSteps = [...steps];
          for (const { stepCount, shard } of turns) {
            const turnConsumers = shard === shardCount ? consumers : consumers.slice(shard, shard + 1);
            const turnSteps = remainingSteps.splice(0, stepCount);
            await Promise.all([
              ...turnConsumers.map(async (consume) => await consume(crashingService)),
              (async () => {
                for (const step of turnSteps) await runStep(step);
              })(),
            ]);
          }
          for (const step of remainingSteps) await runStep(step);
          const consumeAll = async (consume: ConsumeNext) => {
            while (await consume(crashingService));
          };
          await Promise.all(consumers.map(consumeAll));
          // Lambda repeats a batch if it does not receive the response.
          await aggregateStreamRecords(createAggregationService(table), recorded.shards[0]?.slice(-4) ?? [], 'shard-0');

          const now = Date.now();
          const [purchases, customerItems] = await Promise.all([
            readPurchases(keys.appName),
            Promise.all(users.map((user) => table.get(customerKey(keys.appName, user)))),
          ]);
          const expected = users
            .filter((_user, index) => customerItems[index])
            .map((user) => ({ applicationUsername: user, customerInfo: computeCustomerInfo(user, purchases, now) }));
          const headers = buildBasicAuth(keys.appName, keys.secretKey);
          const page = await callEndpoint(listCustomers, { headers });
          const query = { applicationUsername: users.join(',') };
          const selection = await callEndpoint(listCustomers, { headers, query });
          expect(sortByUsername(page.body.rows)).toEqual(expected);
          expect(page.body.paging.total).toBe(expected.length);
          expect(selection.body.rows).toEqual(expected);
        },
      );
      await fc.assert(property, sampleRuns({ sample: 3, full: 40 }));
    },
    10 * minuteMs,
  );

  it('omits the last purchase of a customer who lost it', async () => {
    const keys = await givenApp(table);
    const recorded = createRecordedTable(table, 1);
    const runStep = createHistoryRunner(createService(recorded.table), keys.appName, {
      strategy: 'last',
      from: Date.now() - dayMs,
    });
    await runStep({ kind: 'buy', purchaseIndex: 0, user: 'ann', hoursBefore: 1 });
    await aggregateStreamRecords(getService(), recorded.shards[0]?.splice(0) ?? [], 'shard');
    await runStep({ kind: 'claim', purchaseIndex: 0, user: 'bob', hoursBefore: 1 });
    await aggregateStreamRecords(getService(), recorded.shards[0] ?? [], 'shard');
    const { body } = await callEndpoint(listCustomers, { headers: buildBasicAuth(keys.appName, keys.secretKey) });
    expect(body.rows).toMatchObject([
      { applicationUsername: 'ann', customerInfo: { activeSubscriber: false, lapsedSubscriber: false } },
      { applicationUsername: 'bob', customerInfo: { activeSubscriber: true, lastPurchaseId: 'store_a:0' } },
    ]);
    expect(body.rows[0].customerInfo).not.toHaveProperty('lastPurchaseId');
  });
});

describe('rebuildCustomerSummaries', () => {
  it('rebuilds the summaries of all customers or of the requested ones', async () => {
    const keys = await givenApp(table);
    const runStep = createHistoryRunner(getService(), keys.appName, {
      strategy: 'all',
      from: Date.now() - dayMs,
    });
    // The aggregator does not process these changes.
    await runStep({ kind: 'buy', purchaseIndex: 0, user: 'ann', hoursBefore: 1 });
    await runStep({ kind: 'buy', purchaseIndex: 2, user: 'bob', hoursBefore: 1 });
    await runStep({ kind: 'claim', purchaseIndex: 0, user: 'eve', hoursBefore: 1 });
    expect(await rebuildCustomerSummaries(getService(), keys.appName, { usernames: ['ann', 'unknown-user'] })).toEqual({
      checked: 1,
      corrected: 1,
      unknownUsernames: ['unknown-user'],
      failed: [],
    });
    expect(await rebuildCustomerSummaries(getService(), keys.appName)).toEqual({
      checked: 3,
      corrected: 2,
      unknownUsernames: [],
      failed: [],
    });
    expect(await rebuildCustomerSummaries(getService(), keys.appName)).toEqual({
      checked: 3,
      corrected: 0,
      unknownUsernames: [],
      failed: [],
    });
    const { body } = await callEndpoint(listCustomers, { headers: buildBasicAuth(keys.appName, keys.secretKey) });
    const purchases = await readPurchases(keys.appName);
    expect(body.rows).toEqual(
      users.map((user) => ({
        applicationUsername: user,
        customerInfo: computeCustomerInfo(user, purchases, Date.now()),
      })),
    );
  });
});

describe('rebuildCustomerSummaries for customers of earlier releases', () => {
  it('adds the words of the names that a validation has not written', async () => {
    const { appName } = await givenApp(table);
    const username = 'ann.lee@example.com';
    await table.batchPut([{ ...customerKey(appName, username), ...customerIndexKeys(appName, username, 1), username }]);
    const find = async () =>
      await findCustomerNames(getService(), appName, { list: nameWordList, prefix: 'LEE', limit: 20 });
    expect(await find()).toEqual([]);
    for (let run = 0; run < 2; run++) await rebuildCustomerSummaries(getService(), appName);
    expect(await find()).toEqual([username]);
    expect(await table.query({ partition: customerKey.partition(appName, username) })).toHaveLength(3);
  });

  it('adds none for unknown customers', async () => {
    const { appName } = await givenApp(table);
    const username = 'ann.lee@example.com';
    await rebuildCustomerSummaries(getService(), appName, { usernames: [username] });
    expect(await table.query({ partition: customerKey.partition(appName, username) })).toEqual([]);
  });
});

describe('updateCustomerSummary', () => {
  it('does not recreate a customer who is deleted during the rebuild', async () => {
    const { appName } = await givenApp(table);
    const runStep = createHistoryRunner(getService(), appName, { strategy: 'all', from: Date.now() - dayMs });
    await runStep({ kind: 'buy', purchaseIndex: 0, user: 'ann', hoursBefore: 1 });
    const Key = customerKey(appName, 'ann');
    const change = await updateCustomerSummary(createService(table), appName, 'ann', async () => {
      await table.transact([{ Delete: { TableName: table.name, Key } }]);
      return [createObservation().purchase];
    });
    expect(change).toBeUndefined();
    expect(await table.get(Key)).toBeUndefined();
  });
});
