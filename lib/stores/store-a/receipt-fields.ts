import { derTags, expectTag, parseChildren, parseDer, readInteger, readOctetString } from './der.ts';

/** The values of a receipt, or of one of its purchases, by the numbers of their types. */
export type ReceiptFields = ReadonlyMap<number, readonly Buffer[]>;

/** Reads a SET of attributes (type, version, value). Throws `InvalidPayload`. */
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

/** Names for the numbers of some fields. */
type Names = Readonly<Record<string, number>>;

/** The text fields that are not empty. */
export const pickTextFields = (fields: ReceiptFields, names: Names): Record<string, string> =>
  collect(names, (name, type) => toEntry(name, readText(fields, type)));

/** The dates that are there, each in words and in milliseconds, as verifyReceipt gives them. */
export const pickDateFields = (fields: ReceiptFields, names: Names): Record<string, string> =>
  collect(names, (name, type) => {
    const at = readDate(fields, type);
    if (at === undefined) return {};
    const inWords = new Date(at).toISOString().replace('T', ' ').slice(0, 19);
    return { [name]: `${inWords} Etc/GMT`, [`${name}_ms`]: String(at) };
  });

/** The numbers that are there, in digits: some are longer than what a number holds exactly. */
export const pickIntegerFields = (fields: ReceiptFields, names: Names): Record<string, string> =>
  collect(names, (name, type) => toEntry(name, readBigInteger(fields, type)?.toString()));

/** The flags that are there. */
export const pickBooleanFields = (fields: ReceiptFields, names: Names): Record<string, string> =>
  collect(names, (name, type) => {
    const value = readBigInteger(fields, type);
    return toEntry(name, value === undefined ? undefined : String(value !== 0n));
  });

/** A text; undefined when it is missing or empty. */
export function readText(fields: ReceiptFields, type: number): string | undefined {
  const value = fields.get(type)?.[0];
  return value && (parseDer(value).content.toString('utf8') || undefined);
}

/** A date, which receipts write as ISO text; undefined when it is missing or empty. */
export function readDate(fields: ReceiptFields, type: number): number | undefined {
  const at = Date.parse(readText(fields, type) ?? '');
  return Number.isNaN(at) ? undefined : at;
}

function readBigInteger(fields: ReceiptFields, type: number): bigint | undefined {
  const value = fields.get(type)?.[0];
  if (value === undefined) return undefined;
  const { content } = expectTag(parseDer(value), derTags.integer);
  return content.length === 0 ? undefined : BigInt(`0x${content.toString('hex')}`);
}

const collect = (names: Names, read: (name: string, type: number) => Record<string, string>): Record<string, string> =>
  Object.assign({}, ...Object.entries(names).map(([name, type]) => read(name, type)));

const toEntry = (name: string, value: string | undefined): Record<string, string> =>
  value === undefined ? {} : { [name]: value };
