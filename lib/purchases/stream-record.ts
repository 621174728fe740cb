import type { DynamoDBRecord } from 'aws-lambda';
import { type ItemImage, parseItemKey, type StreamRecord, unmarshallImage } from '../foundation/stream-record.ts';
import { toItemImage } from './purchase-item.ts';

/**
 * Converts a record of the table's stream into plain values.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_Record.html
 */
export function parseStreamRecord({ eventName, dynamodb = {}, userIdentity }: DynamoDBRecord): StreamRecord {
  const { Keys, NewImage, OldImage, SequenceNumber = '', ApproximateCreationDateTime: writtenSeconds = 0 } = dynamodb;
  const key = { pk: Keys?.pk?.S ?? '', sk: Keys?.sk?.S ?? '' };
  const itemKey = parseItemKey(key);
  const toItem = (image: NonNullable<typeof NewImage>): ItemImage => toItemImage(itemKey.kind, unmarshallImage(image));
  return {
    ...itemKey,
    key,
    eventName: eventName ?? 'MODIFY',
    // DynamoDB names itself as the user of a TTL deletion.
    isTtlDeletion: eventName === 'REMOVE' && userIdentity?.type === 'Service',
    sequenceNumber: SequenceNumber,
    writtenAt: writtenSeconds * 1_000,
    ...(OldImage && { before: toItem(OldImage) }),
    ...(NewImage && { after: toItem(NewImage) }),
  };
}
