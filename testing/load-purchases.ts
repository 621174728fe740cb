import { purchasePartition } from '../lib/db/keys.ts';
import { deps } from '../lib/deps.ts';
import type { Purchase } from '../lib/purchases/purchase.ts';

/**
 * The purchases of an application with their transactions as they are stored, by their ids, without what depends on when
 * they were written.
 */
export async function loadPurchases(appName: string): Promise<Map<string, object>> {
  const { table } = deps();
  const listed = await table.query({ partition: `${appName}#P`, index: 'byCreated' });
  const partitions = listed.map(({ pk }) => String(pk)).sort();
  const found = await Promise.all(
    partitions.map(async (partition): Promise<[string, object]> => {
      const items = await table.query({ partition });
      const state = items.find(({ sk }) => sk === 'P');
      const transactions = items.flatMap(({ transaction }) => (transaction ? [transaction] : []));
      const { userAliases, entitledUsers } = state ?? {};
      const kept = {
        purchase: omitTransientFields(state?.purchase as Purchase),
        userAliases,
        entitledUsers,
        transactions,
      };
      return [partition.slice(purchasePartition(appName, '').length), kept];
    }),
  );
  return new Map(found);
}

/** Stores that are asked again show when a customer cancelled only until that is taken back; store_a tells each time. */
function omitTransientFields({ renewalIntentChangeDate, ...purchase }: Purchase): object {
  return { ...purchase, ...(purchase.platform === 'store_a' && { renewalIntentChangeDate }) };
}
