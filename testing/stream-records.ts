import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import type { StreamRecord } from '../lib/foundation/stream-record.ts';
import { parseStreamRecord } from '../lib/purchases/stream-record.ts';

type Item = Readonly<Record<string, unknown>>;

/** A change of an item: without `before` an insertion, without `after` a deletion. */
export interface ItemChange {
  readonly before?: Item;
  readonly after?: Item;
}

/** Builds the stream record of a change. `position` determines the sequence number. */
export const buildStreamRecord = (change: ItemChange, position: number): StreamRecord =>
  parseStreamRecord(buildLambdaRecord(change, position));

/** Builds the record as Lambda delivers it. */
export function buildLambdaRecord({ before, after }: ItemChange, position: number): DynamoDBRecord {
  const { pk, sk } = (after ?? before ?? {}) as { pk: string; sk: string };
  return {
    eventName: before && after ? 'MODIFY' : after ? 'INSERT' : 'REMOVE',
    dynamodb: {
      ApproximateCreationDateTime: 1_800_000_000 + position,
      SequenceNumber: String(10n ** 20n + BigInt(position)),
      Keys: toImage({ pk, sk }),
      ...(after && { NewImage: toImage(after) }),
      ...(before && { OldImage: toImage(before) }),
    },
  };
}

const toImage = (item: Item): Record<string, AttributeValue> =>
  Object.fromEntries(
    Object.entries(item).flatMap(([name, value]) => (value === undefined ? [] : [[name, toAttributeValue(value)]])),
  );

function toAttributeValue(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  // Lambda delivers bytes as Base64 text.
  if (Buffer.isBuffer(value)) return { B: value.toString('base64') };
  if (Array.isArray(value)) return { L: value.map(toAttributeValue) };
  return { M: toImage(value as Item) };
}
