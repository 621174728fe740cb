import * as keys from '../foundation/keys.ts';
import type { Table } from '../foundation/table.ts';
import { isConflict } from '../shared/errors.ts';
import { parse } from '../shared/parse.ts';
import { Checkpoint, checkpointTtlMs } from '../statistics/counter.ts';

/** The checkpoints that counters have no space for. */
interface CheckpointRepository {
  find(key: keys.Key): Promise<Checkpoint | undefined>;
  /** Saves a checkpoint unless a later one is saved. */
  save(key: keys.Key, checkpoint: Checkpoint): Promise<void>;
}

export function createCheckpointRepository(table: Table): CheckpointRepository {
  return {
    async find(key) {
      const item = await table.get(key);
      return item && parse(Checkpoint, item, 'DatabaseError');
    },
    async save(key, { sequenceNumber, writtenAt }) {
      const update = {
        Key: { ...key },
        UpdateExpression: 'SET sequenceNumber = :sequence, sortable = :sortable, writtenAt = :writtenAt, #ttl = :ttl',
        // A slow writer that read an earlier version of the counter must not replace a later checkpoint.
        ConditionExpression: 'attribute_not_exists(pk) OR sortable < :sortable',
        ExpressionAttributeNames: { '#ttl': 'ttl' },
        ExpressionAttributeValues: {
          ':sequence': sequenceNumber,
          ':sortable': sequenceNumber.padStart(maxSequenceLength, '0'),
          ':writtenAt': writtenAt,
          ':ttl': keys.toTtl(writtenAt + checkpointTtlMs),
        },
      };
      await table.update(update).catch((error: unknown) => {
        if (!isConflict(error)) throw error;
      });
    },
  };
}

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_StreamRecord.html */
const maxSequenceLength = 40;
