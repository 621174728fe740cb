import { toKey } from '../foundation/key.ts';
import { transactionIdKeys, transactionKey } from '../foundation/keys.ts';
import type { Service } from '../foundation/service.ts';
import type { Transaction } from './transaction.ts';
import { parseTransactionItem } from './transaction-item.ts';

/**
 * Maximum length of a sort key. DynamoDB rejects a request with a longer one.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 */
const maxSortKeyBytes = 1024;

export async function findTransaction(
  service: Service,
  appName: string,
  transactionId: string,
): Promise<Transaction | undefined> {
  return (
    (await findByPurchaseKey(service, appName, transactionId)) ??
    (await listByIndex(service, appName, transactionId, 1))[0]
  );
}

/** Lists the transactions with this id: a store can use one id for several products that were bought together. */
export async function listTransactionsById(
  service: Service,
  appName: string,
  transactionId: string,
): Promise<Transaction[]> {
  const [own, indexed] = await Promise.all([
    findByPurchaseKey(service, appName, transactionId),
    listByIndex(service, appName, transactionId),
  ]);
  return own ? [own, ...indexed] : indexed;
}

/** Finds the transaction whose purchase has the same id. The index does not contain it. */
async function findByPurchaseKey({ table }: Service, appName: string, id: string): Promise<Transaction | undefined> {
  const key = transactionKey(appName, id, id);
  if (Buffer.byteLength(key.sk) > maxSortKeyBytes) return undefined;
  const item = await table.get(key);
  return item && parseTransactionItem(item);
}

async function listByIndex(
  { table }: Service,
  appName: string,
  transactionId: string,
  limit?: number,
): Promise<Transaction[]> {
  const entries = await table.query({
    partition: transactionIdKeys.partition(appName, transactionId),
    index: 'byKey',
    ...(limit !== undefined && { limit }),
  });
  const items = await Promise.all(entries.map((entry) => table.get(toKey(entry))));
  return items.flatMap((item) => (item ? [parseTransactionItem(item)] : []));
}
