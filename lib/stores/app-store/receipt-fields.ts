import type { EpochMillis } from '../../foundation/time.ts';
import { derTags, expectTag, parseChildren, parseDer, readInteger, readOctetString } from './der.ts';

/** The attribute values of a receipt or of one of its purchases, by attribute type. */
export type ReceiptFields = ReadonlyMap<number, readonly Buffer[]>;

/** Parses a SET of attributes (type, version, value). Throws `InvalidPayload`. */
export function parseReceiptFields(content: Buffer): ReceiptFields {
  const fields = new Map<number, Buffer[]>();
  for (const attribute of parseChildren(expectTag(parseDer(content), derTags.set))) {
    const [type, , value] = parseChildren(expectTag(attribute, derTags.sequence));
    const key = readInteger(type);
    const values = fields.get(key) ?? [];
    values.push(readOctetString(value));
    fields.set(key, values);
  }
  return fields;
}

/** Attribute types by field name. */
type FieldTypes = Readonly<Record<string, number>>;

/** Returns the text fields that are not empty. */
export const pickTextFields = (fields: ReceiptFields, types: FieldTypes): Record<string, string> =>
  collectFields(types, (name, type) => toEntry(name, readText(fields, type)));

/** Returns each date as formatted text and as `…_ms`, like verifyReceipt. */
export const pickDateFields = (fields: ReceiptFields, types: FieldTypes): Record<string, string> =>
  collectFields(types, (name, type) => {
    const date = readDate(fields, type);
    if (date === undefined) return {};
    const formatted = new Date(date).toISOString().replace('T', ' ').slice(0, 19);
    return { [name]: `${formatted} Etc/GMT`, [`${name}_ms`]: String(date) };
  });

/** Returns integers as digits: some exceed the safe range of a number. */
export const pickIntegerFields = (fields: ReceiptFields, types: FieldTypes): Record<string, string> =>
  collectFields(types, (name, type) => toEntry(name, readBigInteger(fields, type)?.toString()));

/** Returns `'true'` or `'false'` for each flag. */
export const pickBooleanFields = (fields: ReceiptFields, types: FieldTypes): Record<string, string> =>
  collectFields(types, (name, type) => {
    const value = readBigInteger(fields, type);
    return toEntry(name, value === undefined ? undefined : String(value !== 0n));
  });

/** Returns undefined if the text is missing or empty. */
export function readText(fields: ReceiptFields, type: number): string | undefined {
  const value = fields.get(type)?.[0];
  return value && (parseDer(value).content.toString('utf8') || undefined);
}

/** Parses an ISO date. Returns undefined if it is missing or empty. */
export function readDate(fields: ReceiptFields, type: number): EpochMillis | undefined {
  const date = Date.parse(readText(fields, type) ?? '');
  return Number.isNaN(date) ? undefined : date;
}

function readBigInteger(fields: ReceiptFields, type: number): bigint | undefined {
  const value = fields.get(type)?.[0];
  if (value === undefined) return undefined;
  const { content } = expectTag(parseDer(value), derTags.integer);
  return content.length === 0 ? undefined : BigInt(`0x${content.toString('hex')}`);
}

const collectFields = (
  types: FieldTypes,
  read: (name: string, type: number) => Record<string, string>,
): Record<string, string> => Object.assign({}, ...Object.entries(types).map(([name, type]) => read(name, type)));

const toEntry = (name: string, value: string | undefined): Record<string, string> =>
  value === undefined ? {} : { [name]: value };
