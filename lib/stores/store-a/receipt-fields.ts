import { childrenOf, expectTag, numberOf, octetsOf, readDer, tags } from './der.ts';

/** The values of a receipt, or of one of its purchases, by the numbers of their types. */
export type Fields = ReadonlyMap<number, readonly Buffer[]>;

/** Reads a SET of attributes (type, version, value). Throws `InvalidPayload`. */
export function fieldsOf(content: Buffer): Fields {
  const fields = new Map<number, Buffer[]>();
  for (const attribute of childrenOf(expectTag(readDer(content), tags.set))) {
    const [type, , value] = childrenOf(expectTag(attribute, tags.sequence));
    const key = numberOf(type);
    const values = fields.get(key) ?? [];
    values.push(octetsOf(value));
    fields.set(key, values);
  }
  return fields;
}

/** Names for the numbers of some fields. */
type Names = Readonly<Record<string, number>>;

/** The text fields that are not empty. */
export const textFields = (fields: Fields, names: Names): Record<string, string> =>
  collect(names, (name, type) => named(name, textOf(fields, type)));

/** The dates that are there, each in words and in milliseconds, as verifyReceipt gives them. */
export const dateFields = (fields: Fields, names: Names): Record<string, string> =>
  collect(names, (name, type) => {
    const at = dateOf(fields, type);
    if (at === undefined) return {};
    const inWords = new Date(at).toISOString().replace('T', ' ').slice(0, 19);
    return { [name]: `${inWords} Etc/GMT`, [`${name}_ms`]: String(at) };
  });

/** The numbers that are there, in digits: some are longer than what a number holds exactly. */
export const integerFields = (fields: Fields, names: Names): Record<string, string> =>
  collect(names, (name, type) => named(name, integerOf(fields, type)?.toString()));

/** The flags that are there. */
export const flagFields = (fields: Fields, names: Names): Record<string, string> =>
  collect(names, (name, type) => {
    const value = integerOf(fields, type);
    return named(name, value === undefined ? undefined : String(value !== 0n));
  });

/** A text; undefined when it is missing or empty. */
export function textOf(fields: Fields, type: number): string | undefined {
  const value = fields.get(type)?.[0];
  return value && (readDer(value).content.toString('utf8') || undefined);
}

/** A date, which receipts write as ISO text; undefined when it is missing or empty. */
export function dateOf(fields: Fields, type: number): number | undefined {
  const at = Date.parse(textOf(fields, type) ?? '');
  return Number.isNaN(at) ? undefined : at;
}

function integerOf(fields: Fields, type: number): bigint | undefined {
  const value = fields.get(type)?.[0];
  if (value === undefined) return undefined;
  const { content } = expectTag(readDer(value), tags.integer);
  return content.length === 0 ? undefined : BigInt(`0x${content.toString('hex')}`);
}

const collect = (names: Names, read: (name: string, type: number) => Record<string, string>): Record<string, string> =>
  Object.assign({}, ...Object.entries(names).map(([name, type]) => read(name, type)));

const named = (name: string, value: string | undefined): Record<string, string> =>
  value === undefined ? {} : { [name]: value };
