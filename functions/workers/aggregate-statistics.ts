import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import { streamFailures } from '../../composition/queues.ts';
import { table } from '../../composition/table.ts';
import { createCounterRepository } from '../../lib/db/counter-repository.ts';
import { createCustomerRepository } from '../../lib/db/customer-repository.ts';
import { createOwnedPurchaseRepository } from '../../lib/db/owned-purchase-repository.ts';
import { createStreamMarkerRepository } from '../../lib/db/stream-marker-repository.ts';
import { parseStreamRecord } from '../../lib/db/stream-record.ts';
import { once } from '../../lib/shared/once.ts';
import { aggregateStreamRecords } from '../../lib/statistics/aggregate-stream.ts';

/**
 * A batch of stream records with its shard id, which only events of tumbling windows contain.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-windows.html
 */
interface WindowEvent {
  readonly Records: readonly DynamoDBRecord[];
  readonly shardId?: string;
}

const deps = once(() => ({
  counters: createCounterRepository(table()),
  customers: createCustomerRepository(table()),
  ownedPurchases: createOwnedPurchaseRepository(table()),
  streamFailures: streamFailures(),
  streamMarkers: createStreamMarkerRepository(table()),
}));

/** Fails the whole batch on an error: records that are already counted are ignored in the next attempt. */
export const handler = async ({
  Records,
  shardId,
}: WindowEvent): Promise<DynamoDBBatchResponse & { readonly state: object }> => {
  if (Records.length > 0) {
    if (shardId === undefined) throw new Error('The shard id is missing: configure a tumbling window.');
    await aggregateStreamRecords(Records.map(parseStreamRecord), shardId, deps());
  }
  return { batchItemFailures: [], state: {} };
};
