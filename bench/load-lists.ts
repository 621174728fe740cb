import type { Item } from '../lib/db/table.ts';
import { dayMs } from '../lib/shared/time.ts';

const customers = 20_000;
const purchases = 50_000;
const renewals = 4;
/** How long ago the first purchase was made, and for how many days purchases were made. */
const [oldestDays, soldDays] = [820, 720];
const batchSize = 1_000;

/** Writes 20,000 customers with 50,000 purchases and their 200,000 transactions, and lets the aggregator count them. */
export async function loadLists(appName: string): Promise<void> {
  const { deps } = await import('../lib/deps.ts');
  const { aggregateStreamRecords } = await import('../lib/statistics/aggregate-stream.ts');
  const { buildStreamRecord } = await import('../testing/stream-records.ts');
  const items = await buildItems(appName);
  const { table } = deps();
  for (let start = 0; start < items.length; start += batchSize) {
    const written = items.slice(start, start + batchSize);
    await table.batchPut(written);
    const records = written.map((after, index) => buildStreamRecord({ after }, start + index));
    await aggregateStreamRecords(records, 'shard', deps());
  }
}

/** In the order in which their days come, so that a portion touches few counters. */
async function buildItems(appName: string): Promise<Item[]> {
  const keys = await import('../lib/db/keys.ts');
  const firstAt = Date.now() - oldestDays * dayMs;
  const dated: { readonly at: number; readonly item: Item }[] = [];
  const addItem = (at: number, item: Item) => dated.push({ at, item });
  for (let number = 0; number < customers; number++) {
    const createdAt = Math.floor(firstAt + (number * soldDays * dayMs) / customers);
    const username = `user-${number}`;
    const index = keys.customerIndexKeys(appName, username, createdAt);
    addItem(createdAt, { ...keys.customerKey(appName, username), ...index, username, createdAt });
  }
  for (let number = 0; number < purchases; number++) {
    const createdAt = Math.floor(firstAt + (number * soldDays * dayMs) / purchases);
    const purchaseId = `store_a:${1_000_000 + number}`;
    addItem(createdAt, {
      ...keys.purchaseKey(appName, purchaseId),
      ...buildPurchaseItem(purchaseId, createdAt, keys, appName),
    });
    for (let renewal = 0; renewal < renewals; renewal++) {
      const transaction = buildTransaction(purchaseId, createdAt, renewal);
      const { transactionId, purchaseDate } = transaction;
      addItem(purchaseDate, {
        ...keys.transactionKey(appName, purchaseId, transactionId),
        ...keys.transactionIndexKeys(appName, purchaseId, transaction),
        transaction,
        asOf: createdAt,
      });
    }
  }
  return dated.sort((a, b) => a.at - b.at).map(({ item }) => item);
}

function buildTransaction(purchaseId: string, createdAt: number, renewal: number) {
  const purchaseDate = createdAt + renewal * 30 * dayMs;
  return {
    ...{ purchaseId, transactionId: `${purchaseId}-${renewal}`, productId: 'store_a:monthly', platform: 'store_a' },
    ...{ sandbox: false, purchaseDate, expirationDate: purchaseDate + 30 * dayMs },
    ...{ quantity: 1, currency: 'USD', amountMicros: 4_990_000 },
  };
}

function buildPurchaseItem(
  purchaseId: string,
  createdAt: number,
  keys: typeof import('../lib/db/keys.ts'),
  appName: string,
) {
  const { transactionId, productId, platform, expirationDate } = buildTransaction(purchaseId, createdAt, renewals - 1);
  const purchase = { purchaseId, transactionId, productId, platform, sandbox: false, purchaseDate: createdAt };
  return {
    ...keys.purchaseIndexKeys(appName, purchaseId, { createdAt, updatedAt: createdAt }),
    purchase: { ...purchase, productType: 'paid subscription', expirationDate, renewalIntent: 'Renew' },
    ...{ asOf: createdAt, userAliases: [], entitledUsers: [], createdAt, updatedAt: createdAt, checkedAt: createdAt },
    ...{ version: 1, announcedReasons: [] },
  };
}
