import * as v from 'valibot';
import { describeFormat, describeObject } from './describe.ts';
import { emptyAsAbsent, OptionalText } from './schemas.ts';

/** An integer in a query. */
export const integerParam = (min: number, max: number) =>
  emptyAsAbsent(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,9}$/, `a whole number from ${min} to ${max}`),
      v.transform(Number),
      v.minValue(min),
      v.maxValue(max),
    ),
  );

/** `2026-01-31` or an ISO 8601 date-time, as epoch milliseconds. UTC without an offset. */
export const DateOrDateTime = v.pipe(
  v.string(),
  v.regex(/^[12]\d{3}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/, 'a date or a date-time of ISO 8601'),
  v.check((date) => isExistingDay(date.slice(0, 10)), 'a day that exists'),
  v.transform((date) => Date.parse(/^[^T ]+[T ][^Z+-]+$/.test(date) ? `${date}Z` : date)),
  v.number('a time that exists'),
);

/** An existing day such as `2026-01-31`. The range of years keeps day arithmetic valid and years at four digits. */
export const QueryDay = v.pipe(
  v.string(),
  v.isoDate('a day such as 2026-01-31'),
  v.check((day) => isExistingDay(day), 'a day that exists'),
  v.check((day) => day >= '1970' && day < '3000', 'a day from 1970 to 2999'),
);

/** Rejects dates such as 31 February, which `Date` parses as a day of the next month. */
function isExistingDay(day: string): boolean {
  const parsed = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(day);
}

const maxRows = 1_000;

/** Page of a list. Some clients send `offset` for `skip`. A `limit` above 1,000 is reduced to 1,000. */
export const pagingQuery = {
  limit: emptyAsAbsent(
    v.pipe(
      v.string(),
      v.regex(/^\d+$/, 'a whole number from 1'),
      v.transform((digits) => Math.min(Number(digits), maxRows)),
      v.minValue(1),
    ),
  ),
  skip: integerParam(0, 999_999_999),
  offset: integerParam(0, 999_999_999),
};

/** Each skipped transaction costs a read. */
const maxSkippedTransactions = 20_000;

/** Page of a customer's transactions. */
export const transactionPagingQuery = {
  ...pagingQuery,
  skip: integerParam(0, maxSkippedTransactions),
  offset: integerParam(0, maxSkippedTransactions),
};

interface PagingQuery {
  readonly limit?: number | undefined;
  readonly skip?: number | undefined;
  readonly offset?: number | undefined;
}

/** Converts a query of `pagingQuery` to the page that it requests; the first 100 rows by default. */
export const toPage = ({ limit, skip, offset }: PagingQuery) => ({
  limit: limit ?? 100,
  skip: skip ?? offset ?? 0,
});

/**
 * Converts a query of `transactionPagingQuery` to the page that it requests; the latest 500 transactions by default.
 */
export const toTransactionPage = (query: PagingQuery) => toPage({ ...query, limit: query.limit ?? 500 });

/**
 * DynamoDB rejects bounds above the maximum size of a sort key, 1,024 bytes. The rest is for the prefix of the list.
 */
const maxCursorBytes = 1_000;

/** Position after the last row of a page, as `nextCursor` of its response. Opaque for clients. */
export const cursorParam = emptyAsAbsent(
  v.pipe(
    v.string(),
    v.maxLength(4_000),
    v.regex(/^[\w-]+$/, 'the nextCursor of the previous page'),
    v.transform((cursor) => Buffer.from(cursor, 'base64url').toString('utf8')),
    v.regex(/^\d{13}#/, 'the nextCursor of the previous page'),
    v.maxBytes(maxCursorBytes, 'the nextCursor of the previous page'),
  ),
);

/** Builds the members of a response with a cursor. `next` is the position of the next page, if there is one. */
export const toCursorPage = <T>(rows: T[], next: string | undefined) => ({
  rows,
  ...(next !== undefined && { nextCursor: Buffer.from(next).toString('base64url') }),
});

/** Members of a query that reads a list by cursor. */
export const cursorQuery = {
  /** By default, `oldest`. */
  order: emptyAsAbsent(v.picklist(['oldest', 'newest'])),
  cursor: cursorParam,
};

/** Cursor of the next page. Absent at the end of the list. A page can be empty and still have a cursor. */
export const NextCursor = OptionalText;

// Spec: not shown. Ids of the rows that a list leaves out, because a stored item is not readable.
export const UnreadableIds = v.exactOptional(v.array(v.string()));

/** Position of a page in its list. */
export const PagingInformation = v.strictObject({ skip: v.number(), limit: v.number(), total: v.number() });

export const pagingDescriptions = [
  describeFormat(DateOrDateTime, '2026-01-15T09:30:00Z', {
    type: 'string',
    anyOf: [{ format: 'date' }, { format: 'date-time' }],
  }),
  describeFormat(QueryDay, '2026-01-15', { type: 'string', format: 'date' }),
  describeObject('PagingInformation', PagingInformation, 'Position of the page in its list.', {
    skip: ['Number of skipped rows.', 0],
    limit: ['Maximum number of rows of the page.', 100],
    total: ['Number of rows of the whole list. Approximate for purchases.', 1],
  }),
];
