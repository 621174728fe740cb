import { createHash } from 'node:crypto';
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
export const toDigest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

const maxTimestamp = 9_999_999_999_999;

/** Formats a time as 13 digits that sort by time. Clamps times before 1970 and after 2286. */
export const toSortableTimestamp = (date: EpochMillis): string => toSortableNumber(Math.min(date, maxTimestamp), 13);

/** Formats a number as digits that sort by it. Clamps negative numbers. */
export const toSortableNumber = (number: number, digits: number): string =>
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
