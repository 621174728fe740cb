import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type SandboxRule, strategies } from '../../../lib/apps/app.ts';
import type { Catalogue } from '../../../lib/apps/catalogue.ts';
import { toCustomerInfo } from '../../../lib/customers/customer-info.ts';
import { buildCustomerSummary } from '../../../lib/customers/customer-summary.ts';
import { computeEntitlements } from '../../../lib/entitlements/entitlements.ts';
import { toKey } from '../../../lib/foundation/key.ts';
import { createdLists, customerKey } from '../../../lib/foundation/keys.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import type { Item, Table } from '../../../lib/foundation/table.ts';
import { dayMs, type EpochMillis, minuteMs } from '../../../lib/foundation/time.ts';
import {
  listOwnedTransactions,
  listOwnedWithTransactions,
  listRepresentativePurchases,
  readBounds,
} from '../../../lib/purchases/owned-purchase-table.ts';
import { isActive, isSubscription, type Purchase } from '../../../lib/purchases/purchase.ts';
import { findCurrentSubscription, toPurchaseCollection } from '../../../lib/purchases/purchase-collection.ts';
import { parsePurchaseItem } from '../../../lib/purchases/purchase-item.ts';
import { rebuildPurchaseLinks } from '../../../lib/purchases/rebuild-purchase-links.ts';
import { recordPurchase } from '../../../lib/purchases/record-purchase.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { parseTransactionItem } from '../../../lib/purchases/transaction-item.ts';
import { createService } from '../../../testing/create-service.ts';
import { createObservation, createTransaction, createUniqueName, startDate } from '../../../testing/given.ts';
import { buildValidationInput } from '../../../testing/purchase-inputs.ts';
import { sampleRuns } from '../../../testing/sample.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);

/** Creates the service record with bounds of reads that are so small that most histories exceed them. */
function createBoundedService(): Service {
  const service = createService(table);
  Object.assign(readBounds(service), { purchases: 2, rankings: 100, links: 12 });
  return service;
}

const users = ['ann', 'bob'] as const;
const types = ['paid subscription', 'non renewing subscription', 'consumable'] as const;

const arbitraryDay = fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined });
const arbitraryStep = fc.record({
  purchaseIndex: fc.nat(5),
  user: fc.constantFrom(...users),
  source: fc.constantFrom('validation' as const, 'validation' as const, 'manual' as const, undefined),
  productIndex: fc.nat(1),
  type: fc.constantFrom(...types, undefined),
  purchaseDay: fc.nat(3),
  expirationDay: arbitraryDay,
  endedDay: arbitraryDay,
  sandbox: fc.boolean(),
  flag: fc.constantFrom('isPaused', 'isPending', 'isConsumed', 'isAbandoned', undefined, undefined, undefined),
  crash: fc.constantFrom(0, 0, 0, 1, 2, 3),
});
type Step = typeof arbitraryStep extends fc.Arbitrary<infer T> ? T : never;

function buildPurchase(step: Step): Purchase {
  const { purchaseIndex, productIndex, type, purchaseDay, expirationDay, endedDay, sandbox, flag } = step;
  const purchaseId = `store_a:${purchaseIndex}`;
  return {
    purchaseId,
    transactionId: purchaseId,
    productId: `store_a:product-${productIndex}`,
    platform: 'store_a',
    sandbox,
    purchaseDate: startDate + purchaseDay * dayMs,
    ...(type && { productType: type }),
    ...(expirationDay !== undefined && { expirationDate: startDate + expirationDay * dayMs }),
    ...(endedDay !== undefined && { endedAt: startDate + endedDay * dayMs }),
    ...(flag && { [flag]: true }),
  };
}

const buildTransactions = (purchase: Purchase, count: number): Transaction[] =>
  Array.from({ length: count }, (_, index) =>
    createTransaction(purchase, {
      transactionId: `${purchase.purchaseId}-${index}`,
      purchaseDate: (purchase.purchaseDate ?? 0) + index * minuteMs,
    }),
  );

/** Splits each change into single writes, and crashes before the write with this number. 0: no crash. */
function createSplittingTable(crash: number): Table {
  let writes = 0;
  const countWrite = () => {
    writes += 1;
    if (writes === crash) throw new Error('crashed');
  };
  return {
    ...table,
    async update(update) {
      countWrite();
      await table.update(update);
    },
    async delete(deletion) {
      countWrite();
      await table.delete(deletion);
    },
    async transact(batch) {
      for (const write of batch) {
        countWrite();
        await table.transact([write]);
      }
    },
  };
}

/** Lists the items of all purchases of an app one by one. */
async function listAppItems(appName: string): Promise<Item[]> {
  const lists = createdLists.purchases
    .partitions(appName)
    .map((partition) => table.query({ partition, index: 'byCreated' }));
  const entries = (await Promise.all(lists)).flat();
  const partitions = new Set(entries.map(({ pk }) => String(pk)));
  return (await Promise.all([...partitions].map(async (partition) => await table.query({ partition })))).flat();
}

/** Computes the responses about a customer from purchases. */
function computeAnswers(purchases: readonly Purchase[], now: EpochMillis) {
  return {
    collection: toPurchaseCollection(purchases, now),
    subscription: findCurrentSubscription(purchases, now),
    customerInfo: toCustomerInfo(buildCustomerSummary(purchases), now),
    access: sandboxRules.map((sandboxRule) => computeAccess(purchases, sandboxRule, now)),
  };
}

const sandboxRules = [
  { rule: 'all', usernames: [] },
  { rule: 'none', usernames: [] },
] as const;
const catalogue = {
  'product-0': { type: 'paid subscription', entitlements: ['premium', 'basic'] },
  'product-1': { type: 'paid subscription', entitlements: ['premium'] },
} as const satisfies Catalogue;

/** Computes which entitlements the purchases give, until when, and whether a real purchase gives them. */
function computeAccess(purchases: readonly Purchase[], sandboxRule: SandboxRule, now: EpochMillis) {
  const entitlements = computeEntitlements({ username: 'ann', purchases, grants: [], catalogue, sandboxRule }, now);
  return [...entitlements].map(([name, { isActive: gives, until, isSandbox }]) => [
    name,
    gives && { until, isSandbox },
  ]);
}

/** Compares the responses from the links with the responses from all purchases. */
async function expectAnswersOfAll(service: Service, appName: string): Promise<void> {
  const items = await listAppItems(appName);
  const stored = items.filter(({ sk }) => sk === 'P').map(parsePurchaseItem);
  const transactions = items.filter(({ sk }) => String(sk).startsWith('T#')).map(parseTransactionItem);
  for (const user of users) {
    const all = stored.flatMap(({ purchase, entitledUsers }) => (entitledUsers.includes(user) ? [purchase] : []));
    const deciding = await listRepresentativePurchases(service, appName, user);
    const subscriptions = await listRepresentativePurchases(service, appName, user, 'subscriptions');
    for (const day of [0, 5, 30, 61]) {
      const now = startDate + day * dayMs;
      const answers = computeAnswers(all, now);
      expect(computeAnswers(deciding, now)).toEqual(answers);
      expect(findCurrentSubscription(subscriptions, now)).toEqual(answers.subscription);
      expect(toCustomerInfo(buildCustomerSummary(subscriptions), now)).toEqual(answers.customerInfo);
      expect(answers.customerInfo.activeSubscriber).toBe(
        all.some((purchase) => isSubscription(purchase) && !purchase.isAbandoned && isActive(purchase, now)),
      );
    }
    const ids = new Set(all.map(({ purchaseId }) => purchaseId));
    const expected = transactions.filter(({ purchaseId }) => ids.has(purchaseId));
    const listed = await listOwnedTransactions(service, appName, user, { skip: 0, limit: 1_000 });
    const dates = listed.map(({ purchaseDate }) => purchaseDate);
    expect(dates).toEqual([...dates].sort((a, b) => b - a));
    expect(listed.map(({ transactionId }) => transactionId).sort()).toEqual(
      expected.map(({ transactionId }) => transactionId).sort(),
    );
    const firstTwo = await listOwnedTransactions(service, appName, user, { skip: 0, limit: 2 });
    expect(firstTwo).toEqual(listed.slice(0, 2));
    for (const page of [
      { skip: 0, limit: 2 },
      { skip: 1, limit: 1_000 },
    ]) {
      const both = await listOwnedWithTransactions(service, appName, user, page);
      expect(both.transactions).toEqual(await listOwnedTransactions(service, appName, user, page));
      expect(computeAnswers(both.purchases, startDate)).toEqual(computeAnswers(all, startDate));
    }
  }
}

describe('owned purchases of a customer', () => {
  it(
    'equal a read of all purchases, for random histories at any time, after crashes in split changes',
    async () => {
      const property = fc.asyncProperty(
        fc.constantFrom(...strategies),
        fc.array(arbitraryStep, { minLength: 3, maxLength: 12 }),
        async (strategy, steps) => {
          const appName = createUniqueName();
          for (const [index, step] of steps.entries()) {
            const purchase = buildPurchase(step);
            // The same ids in every step: an orphan of a crashed new purchase is not linked.
            const transactions = buildTransactions(purchase, 1 + (step.purchaseIndex % 3));
            const now = startDate + index * minuteMs;
            const splitting = createService(createSplittingTable(step.crash));
            const recorded = recordPurchase(splitting, appName, purchase.purchaseId, {
              trigger: step.source === 'manual' ? 'link' : step.source ? 'validation' : 'notification',
              observation: { asOf: now, purchase, transactions, userAliases: [] },
              ...(step.source && { claim: { username: step.user, source: step.source } }),
              strategy,
              now,
            });
            await recorded.catch((error: unknown) => {
              if (!(error instanceof Error && error.message === 'crashed')) throw error;
            });
          }
          const service = createBoundedService();
          await expectAnswersOfAll(service, appName);
          await rebuildPurchaseLinks(service, appName);
          await expectAnswersOfAll(service, appName);
          expect(await rebuildPurchaseLinks(service, appName)).toMatchObject({ addedLinks: 0, deletedLinks: 0 });
        },
      );
      await fc.assert(property, sampleRuns({ sample: 4, full: 50 }));
    },
    10 * minuteMs,
  );

  it('include a production purchase of a product with sandbox purchases that end later', async () => {
    const appName = createUniqueName();
    const service = createBoundedService();
    for (const index of [1, 2, 3, 4]) {
      const purchaseId = `store_a:${index}`;
      const purchase = { purchaseId, transactionId: purchaseId, expirationDate: startDate + index * dayMs };
      const observation = createObservation({ ...purchase, sandbox: index > 1 });
      await recordPurchase(service, appName, purchaseId, buildValidationInput('ann', observation));
    }
    const purchaseIds = (await listRepresentativePurchases(service, appName, 'ann')).map(
      ({ purchaseId }) => purchaseId,
    );
    expect(purchaseIds.sort()).toEqual(['store_a:1', 'store_a:4']);
  });

  it('appear after a rebuild of the links of items that an earlier version wrote', async () => {
    const appName = createUniqueName();
    const unbounded = createService(table);
    const ids = ['store_a:1', 'store_a:2', 'store_a:3', 'store_a:4'];
    for (const purchaseId of ids) {
      const observation = createObservation({ purchaseId, transactionId: purchaseId });
      await recordPurchase(unbounded, appName, purchaseId, buildValidationInput('ann', observation));
    }
    const partition = customerKey.partition(appName, 'ann');
    const links = (await table.query({ partition })).filter(({ sk }) => sk !== 'C');
    await table.transact(links.map((link) => ({ Delete: { TableName: table.name, Key: toKey(link) } })));
    await table.batchPut(ids.map((id) => ({ pk: partition, sk: `P#${id}` })));
    expect(await listRepresentativePurchases(unbounded, appName, 'ann')).toHaveLength(ids.length);
    expect(await rebuildPurchaseLinks(unbounded, appName)).toEqual({
      checkedPurchases: 4,
      addedLinks: 12,
      deletedLinks: 4,
      failed: [],
    });
    await expectAnswersOfAll(createBoundedService(), appName);
    const rebuilt = (await table.query({ partition })).filter(({ sk }) => sk !== 'C');
    expect(rebuilt.map(({ sk }) => sk)).toEqual(links.map(({ sk }) => sk));
  });
});
