import type { AttributeValue } from 'aws-lambda';

/** An item in DynamoDB JSON. */
export type ItemImage = Readonly<Record<string, AttributeValue>>;

/**
 * Counts the bytes of an item for capacity units: attribute names and values, without the 100 bytes of storage
 * overhead.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export const countItemBytes = (item: ItemImage): number =>
  sum(Object.entries(item).map(([name, value]) => Buffer.byteLength(name) + countValueBytes(value)));

function countValueBytes({ S, N, B, M, L, SS, NS, BS }: AttributeValue): number {
  if (S !== undefined) return Buffer.byteLength(S);
  if (N !== undefined) return countNumberBytes(N);
  if (B !== undefined) return countBinaryBytes(B);
  // A list or map has an overhead of 3 bytes, and 1 byte per element.
  if (M !== undefined) return 3 + Object.keys(M).length + countItemBytes(M);
  if (L !== undefined) return 3 + sum(L.map((element) => 1 + countValueBytes(element)));
  if (SS !== undefined) return sum(SS.map((text) => Buffer.byteLength(text)));
  if (NS !== undefined) return sum(NS.map(countNumberBytes));
  if (BS !== undefined) return sum(BS.map(countBinaryBytes));
  // A boolean or null.
  return 1;
}

/**
 * One byte, one per two significant digits, and one for a minus sign. The documentation calls this an approximation;
 * github.com/paritysuite/dynamodb-conformance measured the sign.
 */
function countNumberBytes(text: string): number {
  const [mantissa = ''] = text.replace('-', '').split(/e/i);
  const digits = mantissa.replace('.', '').replace(/^0+|0+$/g, '');
  return 1 + Math.ceil(digits.length / 2) + (text.startsWith('-') ? 1 : 0);
}

const countBinaryBytes = (base64: string): number => Buffer.from(base64, 'base64').length;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
