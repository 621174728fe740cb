import { marshall } from '@aws-sdk/util-dynamodb';
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

/** Lambda delivers bytes as Base64 text. A buffer is converted by its own `toJSON` first. */
const toImage = (item: Item): Record<string, AttributeValue> =>
  JSON.parse(
    JSON.stringify(marshall(item, { removeUndefinedValues: true }), (_name, value) =>
      value?.type === 'Buffer' ? Buffer.from(value).toString('base64') : value,
    ),
  );
