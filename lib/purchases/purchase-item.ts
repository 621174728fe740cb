import * as v from 'valibot';
import { OptionalBoolean, OptionalNumber, OptionalText, OptionalTrue } from '../api/schemas.ts';
import { indexes, parseKeyTimestamp } from '../foundation/key.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { parse } from '../foundation/parse.ts';
import type { ItemKind } from '../foundation/stream-record.ts';
import type { Item } from '../foundation/table.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { StoredPeriods } from './active-periods.ts';
import { FirstOwnerVersion } from './announcement.ts';
import { Purchase } from './purchase.ts';

/** A stored purchase. A reader picks the attributes that it needs. */
export const PurchaseItem = v.object({
  purchase: Purchase,
  asOf: v.number(),
  isInferred: OptionalTrue,
  userAliases: v.array(v.string()),
  refreshToken: OptionalText,
  entitledUsers: v.array(v.string()),
  announcedUsers: v.exactOptional(v.array(v.string())),
  createdAt: v.number(),
  updatedAt: v.number(),
  checkedAt: v.number(),
  activePeriods: v.exactOptional(StoredPeriods),
  hasErasedOwner: OptionalBoolean,
  firstOwnerVersion: v.exactOptional(FirstOwnerVersion),
  announcedRenewalDate: OptionalNumber,
  importedAt: OptionalNumber,
  lastRefreshAt: OptionalNumber,
  failedRefreshes: OptionalNumber,
  isNotified: OptionalBoolean,
  version: v.number(),
});

/**
 * Adds `createdAt` and `updatedAt` to a stored purchase item. They are only in the keys of the lists, which keeps most
 * items below 1,024 bytes.
 */
export const addKeyTimes = (item: Item): Item => ({
  ...omitUndefined({
    createdAt: parseTime(item[indexes.byCreated.sk]),
    updatedAt: parseTime(item[indexes.byKey.sk]),
  }),
  ...item,
});

/** Returns an item as the workers read it: a purchase has its times. */
export const toItemImage = (kind: ItemKind, item: Item): Item => (kind === 'purchase' ? addKeyTimes(item) : item);

const parseTime = (sortKey: unknown): EpochMillis | undefined =>
  typeof sortKey === 'string' ? parseKeyTimestamp(sortKey) : undefined;

/** Parses a purchase item. Throws `DatabaseError` if it does not match the schema. */
export const parsePurchaseItem = (item: Item): v.InferOutput<typeof PurchaseItem> =>
  parse(PurchaseItem, addKeyTimes(item), 'DatabaseError');
