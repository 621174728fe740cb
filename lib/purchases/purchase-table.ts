import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { isConflict, ServiceError } from '../foundation/errors.ts';
import { indexes, type Key, parseKeyTimestamp, toTtl } from '../foundation/key.ts';
import {
  claimKey,
  customerKey,
  namingIndexKeys,
  notificationKey,
  purchaseKey,
  sharedClaimKey,
  storeAccountKeys,
  transactionKey,
} from '../foundation/keys.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { parse, parseJson } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import type { Item, Table } from '../foundation/table.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import { buildUpdate, tryUpdate } from '../foundation/updates.ts';
import { type Announcement, NotificationItem } from './announcement.ts';
import { Claim, type ClaimRequest } from './claims.ts';
import type { EncryptedObservation } from './merge.ts';
import type { Observation } from './observation.ts';
import { addLinks, deleteLinksOfErased, deleteStaleLinks } from './owned-purchase-links.ts';
import type { PurchaseChange } from './purchase-change.ts';
import { parsePurchaseItem } from './purchase-item.ts';
import {
  buildChangeTransactions,
  buildCheckUpdate,
  buildHandledMarker,
  createCustomer,
  handledPartKey,
} from './purchase-writes.ts';
import type {
  ComparedPurchase,
  EntitledPurchase,
  NotificationPart,
  PurchaseFacts,
  PurchaseRefreshState,
  SaveOptions,
  StoredPurchase,
} from './stored-purchase.ts';
import type { Transaction } from './transaction.ts';
import { TransactionItem } from './transaction-item.ts';

const SharedClaimItem = v.object({
  id: v.string(),
  username: v.string(),
  isNamedByStore: v.boolean(),
  sharedAt: v.number(),
});

const StoredAnnouncement = v.pick(NotificationItem, ['id', 'date', 'reason']);

const sharedClaimRetentionMs = dayMs;

const RefreshToken = v.record(v.string(), v.string());

/** Returns the purchase with the as-of time of its state. */
export async function findPurchase(
  { table }: Service,
  appName: string,
  purchaseId: string,
): Promise<(EntitledPurchase & { readonly asOf: EpochMillis }) | undefined> {
  const item = await table.get(purchaseKey(appName, purchaseId));
  return item && parsePurchaseItem(item);
}

/** Lists the ids of the purchases of a store account. Eventually consistent. */
export async function listPurchaseIdsByStoreAccount(
  { table }: Service,
  appName: string,
  appTransactionId: string,
  limit: number,
): Promise<string[]> {
  const partition = storeAccountKeys.partition(appName, appTransactionId);
  return (await table.query({ partition, index: 'byUser', limit })).map(({ userSk }) => String(userSk));
}

/** Returns the purchases that exist, in the order of the ids. */
export async function findPurchases(
  { table }: Service,
  appName: string,
  purchaseIds: readonly string[],
): Promise<EntitledPurchase[]> {
  const items = await table.batchGet([...new Set(purchaseIds)].map((id) => purchaseKey(appName, id)));
  return items.map(parsePurchaseItem);
}

export async function findPurchaseFacts(
  { table }: Service,
  appName: string,
  purchaseId: string,
): Promise<PurchaseFacts | undefined> {
  const item = await table.get(purchaseKey(appName, purchaseId));
  if (!item) return undefined;
  const { refreshToken, version: _version, ...facts } = parsePurchaseItem(item);
  return { ...facts, hasRefreshToken: refreshToken !== undefined, ...parseSchedule(item) };
}

/** Removes the purchase from the refresh schedule, until its next change. Idempotent. */
export async function endRefreshSchedule({ table }: Service, appName: string, purchaseId: string): Promise<void> {
  const unscheduled = { [indexes.due.pk]: undefined, [indexes.due.sk]: undefined };
  const isExisting = { expression: 'attribute_exists(pk)' };
  // Does not increment `version`, so the stream workers ignore the update.
  await tryUpdate(table, buildUpdate(purchaseKey(appName, purchaseId), unscheduled, isExisting));
}

export async function findRefreshState(
  { table, cipher }: Service,
  appName: string,
  purchaseId: string,
): Promise<PurchaseRefreshState | undefined> {
  const item = await table.get(purchaseKey(appName, purchaseId));
  if (!item) return undefined;
  const { purchase, refreshToken: ciphertext, lastRefreshAt } = parsePurchaseItem(item);
  const json = ciphertext && (await cipher.decrypt(ciphertext, refreshTokenContext(appName, purchaseId)));
  return {
    purchase,
    ...(json && { refreshToken: parseJson(RefreshToken, json, 'DatabaseError') }),
    ...omitUndefined({ lastRefreshAt }),
  };
}

/** Lists the transactions of several purchases, latest first. */
export async function listTransactionsOfPurchases(
  service: Service,
  appName: string,
  purchaseIds: readonly string[],
): Promise<Transaction[]> {
  const lists = await Promise.all(purchaseIds.map((id) => listItems(service, appName, id, transactionKey.sortKey())));
  return lists
    .flat()
    .map((item) => parse(TransactionItem, item, 'DatabaseError').transaction)
    .sort((a, b) => b.purchaseDate - a.purchaseDate);
}

/** Lists the lifecycle notifications, oldest first. */
export async function listAnnouncements(
  service: Service,
  appName: string,
  purchaseId: string,
): Promise<Announcement[]> {
  const items = await listItems(service, appName, purchaseId, notificationKey.sortKey());
  return items.map((item) => parse(StoredAnnouncement, item, 'DatabaseError'));
}

export async function listClaims(service: Service, appName: string, purchaseId: string): Promise<Claim[]> {
  const items = await listItems(service, appName, purchaseId, claimKey.sortKey());
  return items.map((item) => parse(Claim, item, 'DatabaseError'));
}

/** Stores the claim of a validation, so that the next writer of the purchase applies it. */
export async function shareClaim(
  { table }: Service,
  appName: string,
  purchaseId: string,
  { username, isNamedByStore = false, now }: ClaimRequest & { readonly now: EpochMillis },
): Promise<void> {
  const id = randomUUID();
  const key = sharedClaimKey(appName, purchaseId, id);
  const indexKeys = namingIndexKeys({ appName, username, kind: 'sharedClaim', date: now }, key);
  const claim: v.InferOutput<typeof SharedClaimItem> & Item = {
    ...key,
    ...indexKeys,
    id,
    username,
    isNamedByStore,
    sharedAt: now,
    ttl: toTtl(now + sharedClaimRetentionMs),
  };
  await table.batchPut([claim]);
}

export async function isPartHandled(
  { table }: Service,
  appName: string,
  purchaseId: string,
  part: NotificationPart,
): Promise<boolean> {
  return (await table.get(handledPartKey(appName, part, purchaseId))) !== undefined;
}

/** Encrypts the refresh token for this purchase only: another purchase cannot decrypt it. */
export async function encryptRefreshToken(
  { cipher }: Service,
  appName: string,
  { refreshToken, ...observation }: Observation,
): Promise<EncryptedObservation> {
  if (!refreshToken) return observation;
  const context = refreshTokenContext(appName, observation.purchase.purchaseId);
  return { ...observation, refreshToken: await cipher.encrypt(JSON.stringify(refreshToken), context) };
}

/**
 * Writes the change and the handled marker of the notification part in one transaction. Throws `Conflict` if another
 * writer has changed the purchase since `findPurchaseForChange`, or has handled the part.
 */
export async function savePurchaseChange(
  { table }: Service,
  appName: string,
  change: PurchaseChange,
  { part, registeredCustomer }: SaveOptions = {},
): Promise<void> {
  const { state, updatedAt } = change.after;
  const { purchaseId } = state.purchase;
  const uncheckedUsers = change.gainedUsers.filter((username) => username !== registeredCustomer);
  const newCustomers = await findNewCustomers(table, appName, uncheckedUsers);
  // Customers before their links: see deleteLinksOfErased.
  await Promise.all(
    newCustomers.map(async (username) => await createCustomer(table, appName, username, { now: updatedAt })),
  );
  await addLinks(table, appName, change);
  const markers = part ? [buildHandledMarker(table.name, handledPartKey(appName, part, purchaseId), updatedAt)] : [];
  try {
    for (const writes of buildChangeTransactions(table.name, appName, { change, markers }))
      await table.transact(writes);
  } catch (error) {
    if (isConflict(error)) await deleteLinksOfErased(table, appName, change);
    throw error;
  }
  await deleteStaleLinks(table, appName, change);
}

/**
 * Writes the check of an unchanged purchase, without a transaction. Keeps `updatedAt`, by which clients read
 * changes. Throws `Conflict` if another writer has changed the purchase since `findPurchaseForChange`.
 */
export async function savePurchaseCheck({ table }: Service, appName: string, change: PurchaseChange): Promise<void> {
  await table.update(buildCheckUpdate(appName, change));
}

/** Writes only the handled marker. Throws `Conflict` if another writer has handled the part. */
export async function markPartHandled(
  { table, now }: Service,
  appName: string,
  purchaseId: string,
  part: NotificationPart,
): Promise<void> {
  await table.transact([buildHandledMarker(table.name, handledPartKey(appName, part, purchaseId), now())]);
}

async function listItems({ table }: Service, appName: string, purchaseId: string, prefix: string): Promise<Item[]> {
  return await table.query({ partition: purchaseKey.partition(appName, purchaseId), prefix });
}

/**
 * Returns the users without a customer item. They are created outside the transaction, because purchases of one receipt
 * are written concurrently and would conflict on the customer.
 */
async function findNewCustomers(table: Table, appName: string, usernames: readonly string[]): Promise<string[]> {
  const existing = await table.batchGet(usernames.map((username) => customerKey(appName, username)));
  const existingPks = new Set(existing.map(({ pk }) => pk));
  return usernames.filter((username) => !existingPks.has(customerKey(appName, username).pk));
}

export const refreshTokenContext = (appName: string, purchaseId: string): string => `${appName}/refresh/${purchaseId}`;

/** Returns the time of the next refresh from the index key. Empty if none is scheduled. */
const parseSchedule = ({ dueSk }: Item): Pick<StoredPurchase, 'nextRefreshAt'> =>
  dueSk === undefined ? {} : { nextRefreshAt: parseKeyTimestamp(String(dueSk)) };

/**
 * Returns the stored purchases of many observations, by purchase id: the purchase items, the observed transactions, and
 * the claims of a customer who is not entitled. Eventually consistent.
 */
export async function findObservedPurchases(
  { table }: Service,
  appName: string,
  observations: readonly Observation[],
  username: string | undefined,
): Promise<ReadonlyMap<string, ComparedPurchase>> {
  const readItems = async (keys: readonly Key[]) => await table.batchGet(keys, { isEventuallyConsistent: true });
  const [purchaseItems, transactionItems] = await Promise.all([
    readItems(observations.map(({ purchase }) => purchaseKey(appName, purchase.purchaseId))),
    readItems(
      observations
        .flatMap(({ transactions }) => transactions)
        .map(({ purchaseId, transactionId }) => transactionKey(appName, purchaseId, transactionId)),
    ),
  ]);
  const purchases = purchaseItems.map(parsePurchaseItem);
  const transactions = transactionItems.map((item) => parse(TransactionItem, item, 'DatabaseError'));
  const claimKeys = purchases.flatMap(({ purchase, entitledUsers }) =>
    username === undefined || entitledUsers.includes(username)
      ? []
      : [claimKey(appName, purchase.purchaseId, username)],
  );
  const claimedPartitions = new Set((await readItems(claimKeys)).map(({ pk }) => pk));
  return new Map(
    purchases.map(({ purchase, asOf, isInferred, userAliases, refreshToken, entitledUsers }) => {
      const { purchaseId } = purchase;
      const own = transactions.filter(({ transaction }) => transaction.purchaseId === purchaseId);
      const state = {
        purchase,
        asOf,
        userAliases,
        transactions: own,
        ...omitUndefined({ isInferred, refreshToken }),
      };
      const hasUnusedClaim = claimedPartitions.has(purchaseKey.partition(appName, purchaseId));
      return [purchaseId, { state, entitledUsers, hasUnusedClaim }];
    }),
  );
}

/** Throws `ResourceNotFound` if a read has found no purchase. */
export function requirePurchase<T>(found: T | undefined): asserts found is T {
  if (found === undefined) throw new ServiceError('ResourceNotFound', 'The purchase is not found.');
}

/**
 * Loads the purchase item with its claims and transactions, as input of `savePurchaseChange`. A query is not a
 * snapshot: the version is read before it, so that the conditional write fails if another writer changes the purchase
 * during the query. An earlier result of `findStoredPurchase` replaces the first of the two reads.
 */
export async function findPurchaseForChange(
  service: Service,
  appName: string,
  purchaseId: string,
  earlier?: StoredPurchase,
): Promise<StoredPurchase | undefined> {
  const version = earlier?.version ?? (await findVersion(service.table, appName, purchaseId));
  if (version === undefined) return undefined;
  const stored = await findStoredPurchase(service, appName, purchaseId);
  return stored && { ...stored, version };
}

async function findVersion(table: Table, appName: string, purchaseId: string): Promise<number | undefined> {
  const item = await table.get(purchaseKey(appName, purchaseId));
  return item && parsePurchaseItem(item).version;
}

/**
 * Reads the purchase with its claims, shared claims and transactions in one call. A concurrent change can be contained
 * in part, so the result is not an input of `savePurchaseChange`.
 */
export async function findStoredPurchase(
  { table }: Service,
  appName: string,
  purchaseId: string,
): Promise<StoredPurchase | undefined> {
  const items = await table.query({ partition: purchaseKey.partition(appName, purchaseId) });
  const purchaseItem = items.find(({ sk }) => sk === purchaseKey(appName, purchaseId).sk);
  if (!purchaseItem) return undefined;
  const { purchase, asOf, isInferred, userAliases, refreshToken, ...stored } = parsePurchaseItem(purchaseItem);
  const transactions = items
    .filter(({ sk }) => String(sk).startsWith(transactionKey.sortKey()))
    .map((item) => parse(TransactionItem, item, 'DatabaseError'));
  const claims = items
    .filter(({ sk }) => String(sk).startsWith(claimKey.sortKey()))
    .map((item) => parse(Claim, item, 'DatabaseError'));
  const sharedClaims = items
    .filter(({ sk }) => String(sk).startsWith(sharedClaimKey.sortKey()))
    .map((item) => parse(SharedClaimItem, item, 'DatabaseError'));
  return {
    ...stored,
    ...parseSchedule(purchaseItem),
    state: { purchase, asOf, userAliases, transactions, ...omitUndefined({ isInferred, refreshToken }) },
    claims,
    sharedClaims,
  };
}
