import { splitIntoChunks } from '../lib/foundation/batches.ts';
import type { Item, Table } from '../lib/foundation/table.ts';
import { dayMs, type EpochMillis } from '../lib/foundation/time.ts';
import type { PaymentFigures } from '../lib/purchases/payment-figures.ts';

const customers = 20_000;
const purchases = 50_000;
const renewals = 4;

/** Age of the first purchase, and the period in which the purchases were made. */
const [maxAgeDays, periodDays] = [820, 720];
const batchSize = 1_000;

/** Number of transactions that are written. */
export const loadedTransactions = purchases * renewals;

interface LoadOptions {
  /** Number of products. Default: 1. */
  readonly products?: number;
  /** Transactions have the figures of payments. Default: no. */
  readonly hasFigures?: boolean;
  /** Number of countries that customers pay from, DE first. Default: none is known. */
  readonly countries?: number;
}

const storefronts = ['DEU', 'FRA', 'USA', 'GBR', 'JPN', 'ITA', 'ESP', 'CAN', 'BRA', 'POL'];

/** Writes 20,000 customers, 50,000 purchases and 200,000 transactions, and counts them with the aggregator. */
export async function loadLists(appName: string, options?: LoadOptions): Promise<void> {
  const { getService } = await import('../lib/foundation/get-service.ts');
  const { aggregateStreamRecords } = await import('../lib/statistics/aggregate-stream.ts');
  const { buildStreamRecord } = await import('../testing/stream-records.ts');
  for (const [batchIndex, batch] of splitIntoChunks(await buildItems(appName, options), batchSize).entries()) {
    await getService().table.batchPut(batch);
    const records = batch.map((after, index) => buildStreamRecord({ after }, batchIndex * batchSize + index));
    await aggregateStreamRecords(getService(), records, 'shard');
  }
}

/** Writes the same items into the table of a running service, whose aggregator counts them. */
export async function putLists(appName: string, table: Pick<Table, 'batchPut'>, options?: LoadOptions): Promise<void> {
  for (const batch of splitIntoChunks(await buildItems(appName, options), batchSize)) await table.batchPut(batch);
}

/** Builds the items ordered by day, so that a batch changes few counters. */
async function buildItems(appName: string, options: LoadOptions = {}): Promise<Item[]> {
  const { products = 1, hasFigures = false, countries = 0 } = options;
  const keys = await import('../lib/foundation/keys.ts');
  const firstAt = Date.now() - maxAgeDays * dayMs;
  const datedItems: { readonly date: EpochMillis; readonly item: Item }[] = [];
  const addItem = (date: EpochMillis, item: Item) => datedItems.push({ date, item });
  for (let number = 0; number < customers; number++) {
    const createdAt = Math.floor(firstAt + (number * periodDays * dayMs) / customers);
    const username = `user-${number}`;
    const index = keys.customerIndexKeys(appName, username, createdAt);
    addItem(createdAt, { ...keys.customerKey(appName, username), ...index, username, createdAt });
  }
  for (let number = 0; number < purchases; number++) {
    const createdAt = Math.floor(firstAt + (number * periodDays * dayMs) / purchases);
    const purchaseId = `store_a:${1_000_000 + number}`;
    const productId = products === 1 ? 'store_a:monthly' : `store_a:monthly-${number % products}`;
    const storefront = countries > 0 && storefronts[number % countries];
    addItem(createdAt, {
      ...keys.purchaseKey(appName, purchaseId),
      ...buildPurchaseItem({ purchaseId, productId, createdAt }, keys, appName),
    });
    for (let renewal = 0; renewal < renewals; renewal++) {
      const transaction = buildTransaction({ purchaseId, productId, createdAt }, renewal);
      const { transactionId, purchaseDate } = transaction;
      addItem(purchaseDate, {
        ...keys.transactionKey(appName, purchaseId, transactionId),
        ...keys.transactionIndexKeys(appName, purchaseId, transaction),
        transaction: { ...transaction, ...(storefront && { storefront }) },
        asOf: createdAt,
        amountAsOf: createdAt,
        ...(hasFigures && { figures: buildFigures(createdAt, renewal) }),
      });
    }
  }
  return datedItems.sort((a, b) => a.date - b.date).map(({ item }) => item);
}

interface LoadedPurchase {
  readonly purchaseId: string;
  readonly productId: string;
  readonly createdAt: EpochMillis;
}

/** Builds the figures of a monthly payment that is the first one of its customer. */
function buildFigures(createdAt: EpochMillis, renewal: number): PaymentFigures {
  const purchaseDate = createdAt + renewal * 30 * dayMs;
  const first = { customerSince: createdAt, ...(renewal === 0 && { payerCreatedAt: createdAt }) };
  const chain = renewal > 0 && { previous: { end: purchaseDate }, firstPaidAt: createdAt };
  return { share: 7_000, isByCell: true, end: purchaseDate + 30 * dayMs, ...first, ...chain };
}

function buildTransaction({ purchaseId, productId, createdAt }: LoadedPurchase, renewal: number) {
  const purchaseDate = createdAt + renewal * 30 * dayMs;
  return {
    purchaseId,
    transactionId: `${purchaseId}-${renewal}`,
    productId,
    platform: 'store_a',
    sandbox: false,
    purchaseDate,
    expirationDate: purchaseDate + 30 * dayMs,
    quantity: 1,
    currency: 'USD',
    amountMicros: 4_990_000,
  };
}

function buildPurchaseItem(loaded: LoadedPurchase, keys: typeof import('../lib/foundation/keys.ts'), appName: string) {
  const { purchaseId, productId, createdAt } = loaded;
  const { transactionId, platform, expirationDate } = buildTransaction(loaded, renewals - 1);
  const purchase = { purchaseId, transactionId, productId, platform, sandbox: false, purchaseDate: createdAt };
  return {
    ...keys.purchaseIndexKeys(appName, purchaseId, { createdAt, updatedAt: createdAt }),
    purchase: { ...purchase, productType: 'paid subscription', expirationDate, renewalIntent: 'Renew' },
    asOf: createdAt,
    userAliases: [],
    entitledUsers: [],
    createdAt,
    updatedAt: createdAt,
    checkedAt: createdAt,
    version: 1,
    announcedReasons: [],
  };
}
