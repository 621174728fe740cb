import { getService } from '../lib/foundation/get-service.ts';
import { createdLists, purchaseKey } from '../lib/foundation/keys.ts';
import type { Purchase } from '../lib/purchases/purchase.ts';
import type { Transaction } from '../lib/purchases/transaction.ts';

interface LoadedPurchase {
  readonly purchase: Partial<Purchase>;
  readonly transactions: readonly Partial<Transaction>[];
}

/**
 * Loads the stored purchases of an app with their transactions, by purchase id, without fields that depend on the time
 * of writing.
 */
export async function loadPurchases(appName: string): Promise<Map<string, LoadedPurchase>> {
  const { table } = getService();
  const shards = createdLists.purchases
    .partitions(appName)
    .map((partition) => table.query({ partition, index: 'byCreated' }));
  const partitions = (await Promise.all(shards))
    .flat()
    .map(({ pk }) => String(pk))
    .sort();
  const entries = await Promise.all(
    partitions.map(async (partition): Promise<[string, LoadedPurchase]> => {
      const items = await table.query({ partition });
      const { purchase, userAliases, entitledUsers } = items.find(({ sk }) => sk === 'P') ?? {};
      const transactions = items.flatMap(({ transaction }) =>
        transaction ? [omitEarlierPeriod(transaction as Transaction)] : [],
      );
      const stored = { purchase: omitTransientFields(purchase as Purchase), userAliases, entitledUsers, transactions };
      return [partition.slice(purchaseKey.partition(appName, '').length), stored];
    }),
  );
  return new Map(entries);
}

/** Omits what the service saw of a period before the store cut it, or before the App Store extended it. */
function omitEarlierPeriod({
  plannedExpirationDate: _planned,
  plan,
  ...transaction
}: Transaction): Partial<Transaction> {
  return { ...transaction, ...(plan && transaction.platform !== 'store_a' && { plan }) };
}

/**
 * Omits the dates of renewal intents except for store_a: other stores return a date only while the cancelation is in
 * effect, so the stored dates depend on when the service queried the store.
 */
function omitTransientFields({
  renewalIntentChangeDate,
  renewalIntentDates,
  ...purchase
}: Purchase): Partial<Purchase> {
  return { ...purchase, ...(purchase.platform === 'store_a' && { renewalIntentChangeDate, renewalIntentDates }) };
}
