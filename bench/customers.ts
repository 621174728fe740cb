import type { Item } from '../lib/foundation/table.ts';
import { minuteMs } from '../lib/foundation/time.ts';
import { listRepresentativePurchases } from '../lib/purchases/owned-purchase-table.ts';
import type { BenchResult } from './bench-result.ts';
import { measureCalls, withTestService } from './with-test-service.ts';

export const username = 'guest';
const products = 50;
const runs = 5;

/**
 * Measures the reads of a customer with few and with 20,000 purchases of 50 products, the `purchases` of a webhook, and
 * the aggregator's work for one changed purchase: read units without the event of the request, and the median time.
 */
export const benchCustomers = async (): Promise<BenchResult> =>
  await withTestService(async (service) => {
    const rows = [];
    for (const purchases of [50, 20_000]) {
      const keys = await service.createApp([]);
      await loadPurchases(keys.appName, purchases);
      rows.push(...(await measureReads(keys, purchases)));
    }
    return { title: `A customer with purchases of ${products} products`, rows };
  });

/** Writes the items of consumed consumables and one subscription, as recorded purchases have them. */
export async function loadPurchases(appName: string, count: number): Promise<void> {
  const { getService } = await import('../lib/foundation/get-service.ts');
  const keys = await import('../lib/foundation/keys.ts');
  const { listLinks } = await import('../lib/purchases/owned-purchase-links.ts');
  const { createObservation, startDate } = await import('../testing/given.ts');
  const pk = keys.customerKey.partition(appName, username);
  const customer = { pk, sk: 'C', ...keys.customerIndexKeys(appName, username, startDate), username };
  const items = new Map<string, Item>([['customer', customer]]);
  for (let number = 0; number < count; number++) {
    const purchaseId = `store_a:${1_000_000 + number}`;
    const { purchase, transactions } = createObservation({
      purchaseId,
      transactionId: purchaseId,
      productId: `store_a:product-${number % products}`,
      ...(number % products > 0 && { productType: 'consumable', isConsumed: true }),
      purchaseDate: startDate + number * minuteMs,
    });
    const dates = { createdAt: startDate, updatedAt: startDate };
    items.set(purchaseId, {
      ...keys.purchaseKey(appName, purchaseId),
      ...keys.purchaseIndexKeys(appName, purchaseId, dates),
      purchase,
      ...dates,
      checkedAt: startDate,
      asOf: startDate,
      userAliases: [],
      entitledUsers: [username],
      version: 1,
      announcedReasons: [],
    });
    for (const transaction of transactions) {
      const { transactionId } = transaction;
      items.set(`transaction ${transactionId}`, {
        ...keys.transactionKey(appName, purchaseId, transactionId),
        transaction,
        asOf: startDate,
        amountAsOf: startDate,
      });
    }
    for (const [sk, attributes] of listLinks(purchase, transactions)) {
      items.set(`${sk} ${purchaseId}`, { pk, sk, version: 1, ...attributes });
    }
  }
  await putInOrder([...items.values()], getService().table);
}

async function putInOrder(items: readonly Item[], table: import('../lib/foundation/table.ts').Table): Promise<void> {
  const { splitIntoChunks } = await import('../lib/foundation/batches.ts');
  for (const chunk of splitIntoChunks(items, 500)) await table.batchPut(chunk);
}

async function measureReads(
  { appName, secretKey }: { readonly appName: string; readonly secretKey: string },
  purchases: number,
) {
  const api = await import('../lib/customers/contract.ts');
  const { getCustomerEntitlements } = await import('../lib/entitlements/contract.ts');
  const { getService } = await import('../lib/foundation/get-service.ts');
  const { purchaseKey } = await import('../lib/foundation/keys.ts');
  const { aggregateStreamRecords } = await import('../lib/statistics/aggregate-stream.ts');
  const { buildBasicAuth, callEndpoint } = await import('../testing/call.ts');
  const { createUniqueName } = await import('../testing/given.ts');
  const { buildStreamRecord } = await import('../testing/stream-records.ts');
  const options = { headers: buildBasicAuth(appName, secretKey), params: { applicationUsername: username } };
  const after = await getService().table.get(purchaseKey(appName, 'store_a:1000001'));
  const record = buildStreamRecord({ ...(after && { after }) }, 0);
  const reads: Readonly<Record<string, () => Promise<unknown>>> = {
    'GET customer': () => callEndpoint(api.getCustomer, options),
    'GET customer, limit 100': () => callEndpoint(api.getCustomer, { ...options, query: { limit: '100' } }),
    'GET purchases': () => callEndpoint(api.getCustomerPurchases, options),
    'GET entitlements': () => callEndpoint(getCustomerEntitlements, options),
    'GET subscription': () => callEndpoint(api.getCustomerSubscription, options),
    'GET transactions': () => callEndpoint(api.getCustomerTransactions, options),
    'GET transactions, skip 19,000': () =>
      callEndpoint(api.getCustomerTransactions, { ...options, query: { skip: '19000', limit: '100' } }),
    'purchases of a webhook': () => listRepresentativePurchases(getService(), appName, username),
    'aggregator, one record': () => aggregateStreamRecords(getService(), [record], createUniqueName('shard')),
  };
  const rows = [];
  for (const [operation, run] of Object.entries(reads)) {
    const { result, ...measured } = await measureCalls(run, runs);
    rows.push({ operation, purchases, ...measured });
  }
  return rows;
}
