import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';

type Item = Readonly<Record<string, unknown>>;

/** A change of an item of the table: from nothing when it is new, to nothing when it is deleted. */
export interface ItemChange {
  readonly before?: Item;
  readonly after?: Item;
}

/** The record of a change in the table's stream; numbers of sequence grow with `position`. */
export function buildStreamRecord({ before, after }: ItemChange, position: number): DynamoDBRecord {
  const { pk, sk } = (after ?? before ?? {}) as { pk: string; sk: string };
  return {
    eventName: before && after ? 'MODIFY' : after ? 'INSERT' : 'REMOVE',
    dynamodb: {
      ApproximateCreationDateTime: 1_800_000_000 + position,
      SequenceNumber: String(10n ** 20n + BigInt(position)),
      Keys: image({ pk, sk }),
      ...(after && { NewImage: image(after) }),
      ...(before && { OldImage: image(before) }),
    },
  } as unknown as DynamoDBRecord;
}

const image = (item: Item): Record<string, AttributeValue> =>
  Object.fromEntries(
    Object.entries(item).flatMap(([name, value]) => (value === undefined ? [] : [[name, attribute(value)]])),
  );

function attribute(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (Array.isArray(value)) return { L: value.map(attribute) };
  return { M: image(value as Item) };
}
