import { isConflict } from '../foundation/errors.ts';
import { type Key, toTtl } from '../foundation/key.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import { checkpointTtlMs, SavedCheckpoint } from './counter.ts';

export async function findCheckpoint({ table }: Service, key: Key): Promise<SavedCheckpoint | undefined> {
  const item = await table.get(key);
  return item && parse(SavedCheckpoint, item, 'DatabaseError');
}

/** Saves a checkpoint unless a later one is saved. */
export async function saveCheckpoint(
  { table }: Service,
  key: Key,
  { sequenceNumber, writtenAt, part = 0 }: SavedCheckpoint,
): Promise<void> {
  const update = {
    Key: { ...key },
    UpdateExpression: `SET sequenceNumber = :sequence, sortable = :sortable, writtenAt = :writtenAt, #ttl = :ttl${part ? ', part = :part' : ''}`,
    // A slow writer that read an earlier version of the counter must not replace a later checkpoint.
    ConditionExpression: 'attribute_not_exists(pk) OR sortable < :sortable',
    ExpressionAttributeNames: { '#ttl': 'ttl' },
    ExpressionAttributeValues: {
      ':sequence': sequenceNumber,
      ':sortable': sequenceNumber.padStart(maxSequenceLength, '0'),
      ':writtenAt': writtenAt,
      ':ttl': toTtl(writtenAt + checkpointTtlMs),
      ...(part && { ':part': part }),
    },
  };
  await table.update(update).catch((error: unknown) => {
    if (!isConflict(error)) throw error;
  });
}

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_StreamRecord.html */
const maxSequenceLength = 40;
