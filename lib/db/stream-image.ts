import type { AttributeValue } from 'aws-lambda';
import type { Item } from './table.ts';

type Image = Readonly<Record<string, AttributeValue>>;

/** An item as the table's stream shows it, as plain values; binary values are left out. */
export const unmarshallImage = (image: Image): Item =>
  Object.fromEntries(Object.entries(image).map(([name, value]) => [name, unmarshallValue(value)]));

function unmarshallValue(value: AttributeValue): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.M !== undefined) return unmarshallImage(value.M);
  if (value.L !== undefined) return value.L.map(unmarshallValue);
  if (value.NULL) return null;
  return value.SS ?? value.NS?.map(Number);
}
