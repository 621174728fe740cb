import { getService } from '../lib/foundation/get-service.ts';
import { customerKey, purchaseKey } from '../lib/foundation/keys.ts';
import type { Item } from '../lib/foundation/table.ts';
import type { Observation } from '../lib/purchases/observation.ts';
import { aggregateStreamRecords } from '../lib/statistics/aggregate-stream.ts';
import { createUniqueName } from './given.ts';
import { recordObservation } from './purchase-inputs.ts';
import { buildStreamRecord } from './stream-records.ts';

/** Records a validated purchase of a customer, and aggregates its stream records into the statistics. */
export async function givenPurchase(appName: string, username: string, observation: Observation): Promise<void> {
  const { purchaseId } = observation.purchase;
  const partitions = [purchaseKey.partition(appName, purchaseId), customerKey.partition(appName, username)];
  const itemsBefore = await queryPartitions(partitions);
  await recordObservation(getService(), appName, { username, observation, now: Date.now() });
  await aggregateItems(await queryPartitions(partitions), itemsBefore);
}

/** Aggregates all items of the partitions as new items. */
export const aggregatePartitions = async (partitions: readonly string[]): Promise<void> =>
  await aggregateItems(await queryPartitions(partitions), []);

const queryPartitions = async (partitions: readonly string[]): Promise<Item[]> =>
  (await Promise.all(partitions.map(async (partition) => await getService().table.query({ partition })))).flat();

export async function aggregateItems(items: readonly Item[], itemsBefore: readonly Item[] = []): Promise<void> {
  const records = items.map((after, position) => {
    const before = itemsBefore.find(({ pk, sk }) => pk === after.pk && sk === after.sk);
    return buildStreamRecord({ ...(before && { before }), after }, position);
  });
  // Its own shard: in one shard, the aggregator skips sequence numbers up to its checkpoint.
  await aggregateStreamRecords(getService(), records, createUniqueName('shard'));
}
