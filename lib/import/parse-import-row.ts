import * as v from 'valibot';
import { DateOrDateTime } from '../api/paging.ts';
import { OptionalText, Username } from '../api/schemas.ts';
import { ServiceError } from '../foundation/errors.ts';
import { parse } from '../foundation/parse.ts';
import { type Platform, platforms, withoutPlatform } from '../foundation/platform.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { parsePlatform, toNeutralId } from '../foundation/vocabulary.ts';
import { PurchaseRow } from '../purchases/purchase-contract.ts';
import {
  type EvidenceColumn,
  EvidenceFields,
  type EvidenceFormat,
  hintColumns,
  importFormats,
  purchaseIdColumns,
  type StoreQuery,
} from './import-columns.ts';

/** A row of an import file: a purchase, or a receipt with purchases, and the customers who own it. */
export interface ImportRow {
  readonly platform: Platform;
  /** Empty for an unowned purchase. */
  readonly usernames: readonly string[];
  /** When the customers claimed the purchase at the other service. */
  readonly claimedAt?: EpochMillis;
  readonly query: StoreQuery;
  /**
   * The text that names the purchase: a token, a transaction id, a receipt or a StoreID key. A secret of most stores.
   */
  readonly evidence: string;
}

/** The values of a row by column. Empty text and null count as absent. */
export type RawRow = Readonly<Record<string, unknown>>;

/**
 * Columns of a row in addition to those that name the purchase. `purchaseId` and `entitledUsers` are as in `GET
 * /v3/purchases`.
 */
const rowColumns = ['platform', 'purchaseId', 'user', 'entitledUsers', 'claimedAt'] as const;

const knownColumns: ReadonlySet<string> = new Set([
  ...rowColumns,
  ...Object.keys(EvidenceFields.entries),
  ...Object.keys(PurchaseRow.entries),
]);

/** Throws `InvalidPayload` for a column that is neither of an import nor of a purchase in `GET /v3/purchases`. */
export function requireKnownColumns(columns: readonly string[]): void {
  const unknown = columns.find((column) => !knownColumns.has(column));
  if (unknown === undefined) return;
  const expected = [...rowColumns, ...Object.keys(EvidenceFields.entries)].join(', ');
  throw new ServiceError(
    'InvalidPayload',
    `The column ${JSON.stringify(unknown.slice(0, 40))} is unknown. Columns: ${expected}.`,
  );
}

const Row = v.object({
  platform: OptionalText,
  purchaseId: OptionalText,
  user: v.exactOptional(v.pipe(v.union([v.string(), v.pipe(v.number(), v.transform(String))]), Username)),
  entitledUsers: v.exactOptional(v.pipe(v.array(Username), v.maxLength(500))),
  claimedAt: v.exactOptional(
    v.union(
      [
        DateOrDateTime,
        v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(8.64e15)),
        v.pipe(v.string(), v.regex(/^\d{10,15}$/), v.transform(Number)),
      ],
      'a date-time of ISO 8601 or epoch milliseconds',
    ),
  ),
});

/** Parses a row. Throws `InvalidPayload` with a message that contains no value of the row. */
export function parseImportRow(raw: RawRow): ImportRow {
  requireKnownColumns(Object.keys(raw));
  const present = Object.fromEntries(
    Object.entries(raw).flatMap(([column, value]) => (isAbsent(value) ? [] : [[column, trimValue(column, value)]])),
  );
  const { purchaseId, user, entitledUsers = [], claimedAt, ...row } = parse(Row, present);
  const platform = requirePlatform(row.platform, purchaseId);
  const fields = parse(EvidenceFields, { ...present, ...toIdFields(platform, purchaseId, present) });
  const format = selectFormat(platform, fields);
  const neutral = { ...fields, ...omitPrefixes(platform, fields) };
  return {
    platform,
    usernames: [...new Set([...(user === undefined ? [] : [user]), ...entitledUsers])],
    ...(claimedAt !== undefined && { claimedAt }),
    query: format.toQuery(neutral),
    evidence: neutral[format.required.find((column) => column !== 'productId') ?? 'token'] ?? '',
  };
}

const isAbsent = (value: unknown): boolean => value === null || value === undefined || value === '';

/** Removes white space around ids. A username can begin or end with it. */
function trimValue(column: string, value: unknown): unknown {
  if (column === 'sandbox' && typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && column in EvidenceFields.entries) return String(value);
  return typeof value === 'string' && column !== 'user' ? value.trim() : value;
}

function requirePlatform(token: string | undefined, purchaseId: string | undefined): Platform {
  const prefix = purchaseId?.split(':', 1)[0];
  const platform = parsePlatform(token ?? prefix ?? '');
  if (platform) return platform;
  const problem = token === undefined ? 'is missing' : `is not one of ${platforms.join(', ')} or their brand names`;
  throw new ServiceError('InvalidPayload', `platform ${problem}.`);
}

/**
 * Returns the column for a purchase id. Another line item of a Google Play subscription has the product after the
 * token.
 */
function toIdFields(
  platform: Platform,
  purchaseId: string | undefined,
  { productId }: RawRow,
): Partial<Record<EvidenceColumn, string>> {
  const column = purchaseIdColumns[platform];
  if (purchaseId === undefined || column === undefined) return {};
  const id = omitPrefix(platform, purchaseId);
  const suffix = typeof productId === 'string' ? `:${omitPrefix(platform, productId)}` : '';
  return { [column]: suffix !== '' && id.endsWith(suffix) ? id.slice(0, -suffix.length) : id };
}

/** Removes the platform prefix from ids: files of other services contain `google:…`, `store_b:…` or the id alone. */
const omitPrefixes = (platform: Platform, fields: EvidenceFields): EvidenceFields =>
  Object.fromEntries(
    (['originalTransactionId', 'token', 'productId'] as const).flatMap((column) => {
      const value = fields[column];
      return value === undefined ? [] : [[column, omitPrefix(platform, value)]];
    }),
  );

function omitPrefix(platform: Platform, id: string): string {
  const neutral = toNeutralId(id);
  return neutral.startsWith(`${platform}:`) ? withoutPlatform(neutral) : id;
}

/** Selects the format with exactly the columns of the row that name a purchase. */
function selectFormat(platform: Platform, fields: EvidenceFields): EvidenceFormat {
  const columns = Object.keys(fields) as EvidenceColumn[];
  const isHint = (column: EvidenceColumn): boolean => hintColumns.some((hint) => hint === column);
  const format = importFormats[platform].find(
    ({ required, optional }) =>
      required.every((column) => columns.includes(column)) &&
      columns.every((column) => isHint(column) || required.includes(column) || optional.includes(column)),
  );
  if (format) return format;
  const choices = importFormats[platform].map(({ required }) => required.join(' and ')).join(', or ');
  throw new ServiceError(
    'InvalidPayload',
    `A row of ${platform} must have ${choices}, and no column that names another purchase.`,
  );
}
