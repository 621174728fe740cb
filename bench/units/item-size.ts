import type { AttributeValue } from 'aws-lambda';

/** An item as DynamoDB's protocol writes it. */
export type ItemImage = Readonly<Record<string, AttributeValue>>;

/**
 * Bytes of an item as capacity counts them: names and values. The 100 bytes that storage adds are not part of it.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export const countItemBytes = (item: ItemImage): number =>
  sum(Object.entries(item).map(([name, value]) => Buffer.byteLength(name) + valueSize(value)));

function valueSize({ S, N, B, M, L, SS, NS, BS }: AttributeValue): number {
  if (S !== undefined) return Buffer.byteLength(S);
  if (N !== undefined) return numberSize(N);
  if (B !== undefined) return binarySize(B);
  // Lists and maps take 3 bytes, and 1 for each of their elements.
  if (M !== undefined) return 3 + Object.keys(M).length + countItemBytes(M);
  if (L !== undefined) return 3 + sum(L.map((element) => 1 + valueSize(element)));
  if (SS !== undefined) return sum(SS.map((text) => Buffer.byteLength(text)));
  if (NS !== undefined) return sum(NS.map(numberSize));
  if (BS !== undefined) return sum(BS.map(binarySize));
  // A boolean or null.
  return 1;
}

/**
 * One byte, and one for two significant digits, which the documentation calls an approximation. A sign takes one more, as
 * the suite github.com/paritysuite/dynamodb-conformance found with DynamoDB itself.
 */
function numberSize(text: string): number {
  const [mantissa = ''] = text.replace('-', '').split(/e/i);
  const digits = mantissa.replace('.', '').replace(/^0+|0+$/g, '');
  return 1 + Math.ceil(digits.length / 2) + (text.startsWith('-') ? 1 : 0);
}

const binarySize = (base64: string): number => Buffer.from(base64, 'base64').length;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
