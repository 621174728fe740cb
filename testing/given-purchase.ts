import { customerPartition, purchasePartition } from '../lib/db/keys.ts';
import type { Item } from '../lib/db/table.ts';
import { deps } from '../lib/deps.ts';
import type { Observation } from '../lib/purchases/observation.ts';
import { aggregateStreamRecords } from '../lib/statistics/aggregate-stream.ts';
import { buildStreamRecord } from './stream-records.ts';

/** Records a purchase that a user validated, and counts it. */
export async function givenPurchase(appName: string, username: string, observation: Observation): Promise<void> {
  const { purchaseId } = observation.purchase;
  const claim = { username, source: 'validation' } as const;
  await deps().recordPurchase(appName, purchaseId, {
    ...{ trigger: 'validation', observation, claim, strategy: 'all', now: Date.now() },
  });
  await aggregatePartitions([purchasePartition(appName, purchaseId), customerPartition(appName, username)]);
}

const shownImages = new Map<string, Item>();
let position = 0;

/** Counts all items of the partitions as the table's stream tells of them. */
export async function aggregatePartitions(partitions: readonly string[]): Promise<void> {
  const items = await Promise.all(partitions.map((partition) => deps().table.query({ partition })));
  const records = items.flat().map((after) => {
    const id = `${after.pk}\n${after.sk}`;
    const before = shownImages.get(id);
    shownImages.set(id, after);
    return buildStreamRecord({ ...(before && { before }), after }, ++position);
  });
  await aggregateStreamRecords(records, 'shard', deps());
}
