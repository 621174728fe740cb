import pMap from 'p-map';
import { attemptItems } from '../foundation/failed-items.ts';
import { allTimestamps, toKey } from '../foundation/key.ts';
import { createdLists, purchaseKey } from '../foundation/keys.ts';
import { scanShards } from '../foundation/merge-shards.ts';
import type { ReportProgress } from '../foundation/progress.ts';
import { type Reencryption, reencryptField } from '../foundation/reencrypt-field.ts';
import type { Service } from '../foundation/service.ts';
import { parsePurchaseItem } from './purchase-item.ts';
import { refreshTokenContext } from './purchase-table.ts';

const reencryptConcurrency = 25;

/** Encrypts stale refresh tokens under the current master key. */
export async function reencryptRefreshTokens(
  { table, cipher }: Service,
  appName: string,
  reportProgress?: ReportProgress,
): Promise<Reencryption> {
  let [reencrypted, checked] = [0, 0];
  const { attempt, failed } = attemptItems({ worker: 'reencrypt', app: appName });
  const range = {
    partitions: createdLists.purchases.partitions(appName),
    index: 'byCreated',
    between: allTimestamps,
  } as const;
  for await (const entries of scanShards(table, range)) {
    const items = await table.batchGet(entries.map(toKey));
    const wasStale = await pMap(
      items,
      async (item) =>
        await attempt(purchaseKey.parsePartition(String(item.pk)).purchaseId, async () => {
          const context = refreshTokenContext(appName, parsePurchaseItem(item).purchase.purchaseId);
          // Does not increment `version`, so the stream workers ignore the update.
          return await reencryptField(table, cipher, { item, field: 'refreshToken', context });
        }),
      { concurrency: reencryptConcurrency },
    );
    reencrypted += wasStale.filter(Boolean).length;
    checked += items.length;
    reportProgress?.(checked);
  }
  return { reencrypted, failed };
}
