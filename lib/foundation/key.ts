import { hash } from 'node:crypto';
import type { EpochMillis } from './time.ts';

export const tableKey = { pk: 'pk', sk: 'sk' } as const;

/** The overloaded indexes. All are KEYS_ONLY: a page is one query of the index and one `BatchGetItem`. */
export const indexes = {
  byCreated: { pk: 'createdPk', sk: 'createdSk' },
  byKey: { pk: 'keyPk', sk: 'keySk' },
  due: { pk: 'duePk', sk: 'dueSk' },
  byUser: { pk: 'userPk', sk: 'userSk' },
} as const;

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/** Returns the key of an item or index entry. */
export const toKey = ({ pk, sk }: Readonly<Record<string, unknown>>): Key => ({ pk: String(pk), sk: String(sk) });

/**
 * Converts a time into a value of the attribute `ttl`, in epoch seconds. DynamoDB deletes the item within a few days
 * after it.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
 */
export const toTtl = (expiresAt: EpochMillis): number => Math.ceil(expiresAt / 1000);

/** Returns 128 bits of the SHA-256 as text: ids can be too long for a key, or contain the separator. */
export const toDigest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

/** Returns the SHA-256 digest of the parts in hexadecimal digits. `a, bc` and `ab, c` differ. */
export const hashParts = (...parts: readonly (string | number)[]): string =>
  hash('sha256', JSON.stringify(parts), 'hex');

/** Returns the first hexadecimal digits of the SHA-256 digest of a text: 32 are 128 bits. */
export const toShortDigest = (text: string, digits: 24 | 32 = 32): string =>
  hash('sha256', text, 'hex').slice(0, digits);

const maxTimestamp = 9_999_999_999_999;

/** Formats a time as 13 digits that sort by time. Clamps times before 1970 and after 2286. */
export const toSortableTimestamp = (date: EpochMillis): string => toSortableNumber(Math.min(date, maxTimestamp), 13);

/** Formats a number as digits that sort by it. Clamps negative numbers. */
const toSortableNumber = (number: number, digits: number): string =>
  String(Math.trunc(Math.max(number, 0))).padStart(digits, '0');

/** Returns the time at the beginning of a sort key. */
export const parseKeyTimestamp = (sk: string): EpochMillis => Number(sk.slice(0, 13));

/** Bounds that enclose every sort key that starts with a time: a colon sorts after the digits. */
export const allTimestamps = ['0', ':'] as const;
interface TimestampRange {
  readonly startdate?: EpochMillis | undefined;
  readonly enddate?: EpochMillis | undefined;
}

/**
 * Returns bounds of the sort keys from `startdate` (included) to `enddate` (excluded), and to the sort key `before`.
 * Each defaults to no bound.
 */
export function timestampRange({ startdate, enddate }: TimestampRange, before?: string): [string, string] {
  const end = enddate === undefined ? allTimestamps[1] : toSortableTimestamp(enddate);
  return [
    startdate === undefined ? allTimestamps[0] : toSortableTimestamp(startdate),
    before !== undefined && before < end ? before : end,
  ];
}

/**
 * Returns bounds of the sort keys with an ASCII prefix. DynamoDB Local finds a range by its index, but reads the whole
 * partition for `begins_with`.
 */
export const toPrefixRange = (prefix: string): [string, string] => [
  prefix,
  `${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`,
];

/*
 * Templates of keys, such as `<appName>#P#<purchaseId>`. The parts in angle brackets are the parameters of the builder,
 * in their order. Only the last part of a template can contain `#`.
 */

/** Digits of the parts that are numbers. An end of access can be the maximum date of ECMAScript, which has 16. */
const digits = { date: 13, end: 16, position: 4 } as const;
type NumberName = keyof typeof digits;
const isNumberName = (name: string): name is NumberName => name in digits;

type Part<Name extends string> = Name extends NumberName ? number : string;

/** The values of the parts of a template, in their order. */
type PartList<Template extends string> = Template extends `${string}<${infer Name}>${infer Rest}`
  ? [Part<Name>, ...PartList<Rest>]
  : [];

/** The values of the parts of a template, by name. */
type Parts<Template extends string> = Template extends `${string}<${infer Name}>${infer Rest}`
  ? { readonly [K in Name]: Part<Name> } & Parts<Rest>
  : unknown;

/** Builds and reads the keys of a type of items or of index entries. */
interface KeyType<Built, Pk extends string, Sk extends string> {
  (...parts: [...PartList<Pk>, ...PartList<Sk>]): Built;
  partition(...parts: PartList<Pk>): string;
  /** Without the last parts: the prefix of the sort keys with the first ones. */
  sortKey(...parts: Partial<PartList<Sk>>): string;
  /** Returns bounds that enclose the sort keys with these first parts. */
  range(...parts: Partial<PartList<Sk>>): [string, string];
  /** One partition has items of several types. */
  matches(key: Key): boolean;
  /** Returns the parts of a key of the type. Throws for any other key. */
  parse(key: Key): Parts<Pk> & Parts<Sk>;
  parsePartition(pk: string): Parts<Pk>;
  parseSortKey(sk: string): Parts<Sk>;
}

type ItemKey<Pk extends string, Sk extends string> = KeyType<Key, Pk, Sk>;

/** Defines the keys of a type of items. */
// @__NO_SIDE_EFFECTS__
export function itemKey<Pk extends string, Sk extends string>(pk: Pk, sk: Sk): ItemKey<Pk, Sk> {
  return createKeyType(pk, sk, (key) => key);
}

type IndexKeys<Index extends keyof typeof indexes> = Readonly<Record<(typeof indexes)[Index]['pk' | 'sk'], string>>;

/** Defines the index keys of items. */
// @__NO_SIDE_EFFECTS__
export function indexKeys<Index extends keyof typeof indexes, Pk extends string, Sk extends string>(
  index: Index,
  pk: Pk,
  sk: Sk,
): KeyType<IndexKeys<Index>, Pk, Sk> {
  const names = indexes[index];
  return createKeyType(pk, sk, (key) => ({ [names.pk]: key.pk, [names.sk]: key.sk }) as IndexKeys<Index>);
}

/** A list of an app in an index, in shards that the id of the item selects. */
export interface ShardedList<Index extends keyof typeof indexes> {
  partitions(appName: string): readonly string[];
  /** Builds the index keys of an item that sorts by a date and its id, or by a text. */
  entry(appName: string, id: string, sort: EpochMillis | string): IndexKeys<Index>;
}

// @__NO_SIDE_EFFECTS__
export function shardedList<Index extends keyof typeof indexes>(
  index: Index,
  section: string,
  shards: number,
): ShardedList<Index> {
  const { pk, sk } = indexes[index];
  return {
    partitions: (appName) => listShards(`${appName}#${section}`, shards),
    entry: (appName, id, sort) =>
      ({
        [pk]: pickShard(`${appName}#${section}`, id, shards),
        [sk]: typeof sort === 'string' ? sort : `${toSortableTimestamp(sort)}#${id}`,
      }) as IndexKeys<Index>,
  };
}

/** Returns the partitions of a list. */
export const listShards = (list: string, shards: number): readonly string[] =>
  Array.from({ length: shards }, (_, shard) => `${list}#${shard}`);

/** Returns the partition of a list that contains the item with this id. */
export function pickShard(list: string, id: string, shards: number): string {
  let hash = 0;
  for (const character of id) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return `${list}#${hash % shards}`;
}

function createKeyType<Built, Pk extends string, Sk extends string>(
  pk: Pk,
  sk: Sk,
  toBuilt: (key: Key) => Built,
): KeyType<Built, Pk, Sk> {
  const [partition, sortKey] = [parseTemplate(pk), parseTemplate(sk)];
  const build = (...parts: readonly (string | number)[]): Built =>
    toBuilt({
      pk: partition.build(...parts.slice(0, partition.size)),
      sk: sortKey.build(...parts.slice(partition.size)),
    });
  const methods = {
    partition: partition.build,
    sortKey: sortKey.build,
    range: (...parts: readonly (string | number)[]) => toPrefixRange(sortKey.build(...parts)),
    // By the beginning of the sort key only: earlier releases wrote some of them with other parts.
    matches: (key: Key) =>
      partition.pattern.test(key.pk) && (sortKey.size === 0 ? key.sk === sk : key.sk.startsWith(sortKey.start)),
    parse: (key: Key) => ({ ...partition.parse(key.pk), ...sortKey.parse(key.sk) }),
    parsePartition: partition.parse,
    parseSortKey: sortKey.parse,
  };
  return Object.assign(build, methods) as unknown as KeyType<Built, Pk, Sk>;
}

function parseTemplate(template: string) {
  // Literal texts and names alternate.
  const [start = '', ...rest] = template.split(/[<>]/);
  const parts = rest.flatMap((name, index) => (index % 2 === 0 ? [{ name, after: rest[index + 1] ?? '' }] : []));
  const pattern = new RegExp(`^${start}${parts.map((part) => toPattern(part) + part.after).join('')}$`, 's');
  return {
    size: parts.length,
    start,
    pattern,
    build: (...values: readonly (string | number)[]): string =>
      start + values.map((value, index) => formatPart(value, parts[index])).join(''),
    parse: (text: string) => {
      const values = pattern.exec(text);
      if (!values) throw new Error(`${text} is not a ${template}.`);
      return Object.fromEntries(
        parts.map(({ name }, index) => [name, isNumberName(name) ? Number(values[index + 1]) : values[index + 1]]),
      );
    },
  };
}

const toPattern = ({ name, after }: { name: string; after: string }): string =>
  isNumberName(name) ? `(\\d{${digits[name]}})` : after === '' ? '(.*)' : '([^#]*)';

const formatPart = (value: string | number, { name, after } = { name: '', after: '' }): string => {
  if (typeof value === 'string') return value + after;
  const width = isNumberName(name) ? digits[name] : 0;
  return (name === 'date' ? toSortableTimestamp(value) : toSortableNumber(value, width)) + after;
};
