import { randomUUID } from 'node:crypto';
import pMap from 'p-map';
import * as v from 'valibot';
import { buildUpdate } from '../foundation/build-update.ts';
import {
  allTimestamps,
  claimKey,
  claimPrefix,
  customerKey,
  indexes,
  type Key,
  listPartitions,
  namingIndexKeys,
  notificationPrefix,
  parseKeyTimestamp,
  purchaseKey,
  purchasePartition,
  sharedClaimKey,
  sharedClaimPrefix,
  storeAccountPartition,
  toKey,
  toTtl,
  transactionKey,
  transactionPrefix,
} from '../foundation/keys.ts';
import { scanShards } from '../foundation/merge-shards.ts';
import { reencryptField } from '../foundation/reencrypt-field.ts';
import type { Item, Table } from '../foundation/table.ts';
import { tryUpdate } from '../foundation/try-update.ts';
import { Claim } from '../purchases/claims.ts';
import { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import type { Observation } from '../purchases/observation.ts';
import { PaymentFigures } from '../purchases/payment-figures.ts';
import type { StoredPurchase } from '../purchases/purchase-change.ts';
import type { ComparedPurchase, PurchaseRepository } from '../purchases/purchase-repository.ts';
import { Transaction } from '../purchases/transaction.ts';
import type { Cipher } from '../shared/cipher.ts';
import { isConflict } from '../shared/errors.ts';
import { omitUndefined } from '../shared/omit-undefined.ts';
import { parse, parseJson } from '../shared/parse.ts';
import { dayMs } from '../shared/time.ts';
import { buildHandledMarker, handledPartKey } from './handled-notification-repository.ts';
import { addLinks, deleteLinksOfErased, deleteStaleLinks } from './owned-purchase-links.ts';
import { parsePurchaseItem } from './purchase-item.ts';
import { buildChangeTransactions, buildCheckUpdate, buildCustomerUpdate } from './purchase-writes.ts';

const TransactionItem = v.object({
  transaction: Transaction,
  asOf: v.number(),
  isInferred: v.exactOptional(v.literal(true)),
  amountAsOf: v.number(),
  isAmountInferred: v.exactOptional(v.literal(true)),
  figures: v.exactOptional(PaymentFigures),
});
const SharedClaimItem = v.object({
  id: v.string(),
  username: v.string(),
  isNamedByStore: v.boolean(),
  sharedAt: v.number(),
});
const NotificationItem = v.object({ id: v.string(), date: v.number(), reason: NotificationReason });

const sharedClaimRetentionMs = dayMs;

const RefreshToken = v.record(v.string(), v.string());

const reencryptConcurrency = 25;

export function createPurchaseRepository(table: Table, cipher: Cipher): PurchaseRepository {
  const listItems = async (appName: string, purchaseId: string, prefix: string): Promise<Item[]> =>
    await table.query({ partition: purchasePartition(appName, purchaseId), prefix });
  return {
    async find(appName, purchaseId) {
      const item = await table.get(purchaseKey(appName, purchaseId));
      return item && parsePurchaseItem(item);
    },
    async listIdsByStoreAccount(appName, appTransactionId, limit) {
      const partition = storeAccountPartition(appName, appTransactionId);
      return (await table.query({ partition, index: 'byUser', limit })).map(({ userSk }) => String(userSk));
    },
    async findMany(appName, purchaseIds) {
      const items = await table.batchGet([...new Set(purchaseIds)].map((id) => purchaseKey(appName, id)));
      return items.map(parsePurchaseItem);
    },
    findObserved: async (appName, observations, username) =>
      await findObservedPurchases(table, { appName, observations, username }),
    async findFacts(appName, purchaseId) {
      const item = await table.get(purchaseKey(appName, purchaseId));
      if (!item) return undefined;
      const { refreshToken, version: _version, ...facts } = parsePurchaseItem(item);
      return { ...facts, hasRefreshToken: refreshToken !== undefined, ...parseSchedule(item) };
    },
    async endRefreshSchedule(appName, purchaseId) {
      const unscheduled = { [indexes.due.pk]: undefined, [indexes.due.sk]: undefined };
      const isExisting = { expression: 'attribute_exists(pk)' };
      // Does not increment `version`, so the stream workers ignore the update.
      await tryUpdate(table, buildUpdate(purchaseKey(appName, purchaseId), unscheduled, isExisting));
    },
    async findRefreshState(appName, purchaseId) {
      const item = await table.get(purchaseKey(appName, purchaseId));
      if (!item) return undefined;
      const { purchase, refreshToken: ciphertext, lastRefreshAt } = parsePurchaseItem(item);
      const json = ciphertext && (await cipher.decrypt(ciphertext, refreshTokenContext(appName, purchaseId)));
      return {
        purchase,
        ...(json && { refreshToken: parseJson(RefreshToken, json, 'DatabaseError') }),
        ...(lastRefreshAt !== undefined && { lastRefreshAt }),
      };
    },
    async listTransactions(appName, purchaseIds) {
      const lists = await Promise.all(purchaseIds.map((id) => listItems(appName, id, transactionPrefix)));
      return lists
        .flat()
        .map((item) => parse(TransactionItem, item, 'DatabaseError').transaction)
        .sort((a, b) => b.purchaseDate - a.purchaseDate);
    },
    async listNotifications(appName, purchaseId) {
      const items = await listItems(appName, purchaseId, notificationPrefix);
      return items.map((item) => parse(NotificationItem, item, 'DatabaseError'));
    },
    async listClaims(appName, purchaseId) {
      const items = await listItems(appName, purchaseId, claimPrefix);
      return items.map((item) => parse(Claim, item, 'DatabaseError'));
    },
    findStored: async (appName, purchaseId) => await findStoredPurchase(table, appName, purchaseId),
    load: async (appName, purchaseId, earlier) => await loadStoredPurchase(table, appName, { purchaseId, earlier }),
    async shareClaim(appName, purchaseId, { username, isNamedByStore = false }, now) {
      const id = randomUUID();
      const claim: v.InferOutput<typeof SharedClaimItem> = { id, username, isNamedByStore, sharedAt: now };
      const ttl = toTtl(now + sharedClaimRetentionMs);
      const key = sharedClaimKey(appName, purchaseId, id);
      const indexKeys = namingIndexKeys({ appName, username, kind: 'sharedClaim', date: now }, key);
      await table.batchPut([{ ...key, ...indexKeys, ...claim, ttl }]);
    },
    isPartHandled: async (appName, purchaseId, part) =>
      (await table.get(handledPartKey(appName, part, purchaseId))) !== undefined,
    async encryptRefreshToken(appName, { refreshToken, ...observation }) {
      if (!refreshToken) return observation;
      const context = refreshTokenContext(appName, observation.purchase.purchaseId);
      return { ...observation, refreshToken: await cipher.encrypt(JSON.stringify(refreshToken), context) };
    },
    async saveChange(appName, change, { part, registeredCustomer } = {}) {
      const { state, updatedAt } = change.after;
      const { purchaseId } = state.purchase;
      const uncheckedUsers = change.gainedUsers.filter((username) => username !== registeredCustomer);
      const newCustomers = await findNewCustomers(table, appName, uncheckedUsers);
      // Customers before their links: see deleteLinksOfErased.
      await Promise.all(
        newCustomers.map(async (username) => await table.update(buildCustomerUpdate(appName, username, updatedAt))),
      );
      await addLinks(table, appName, change);
      const markers = part
        ? [buildHandledMarker(table.name, handledPartKey(appName, part, purchaseId), updatedAt)]
        : [];
      try {
        for (const writes of buildChangeTransactions(table.name, appName, { change, markers }))
          await table.transact(writes);
      } catch (error) {
        if (isConflict(error)) await deleteLinksOfErased(table, appName, change);
        throw error;
      }
      await deleteStaleLinks(table, appName, change);
    },
    saveCheck: async (appName, change) => await table.update(buildCheckUpdate(appName, change)),
    async markPartHandled(appName, purchaseId, part, now) {
      await table.transact([buildHandledMarker(table.name, handledPartKey(appName, part, purchaseId), now)]);
    },
    async reencryptRefreshTokens(appName, reportProgress) {
      let [count, checked] = [0, 0];
      const range = { partitions: listPartitions(appName, 'P'), index: 'byCreated', between: allTimestamps } as const;
      for await (const entries of scanShards(table, range)) {
        const items = await table.batchGet(entries.map(toKey));
        const wasStale = await pMap(
          items,
          async (item) => {
            const context = refreshTokenContext(appName, parsePurchaseItem(item).purchase.purchaseId);
            // Does not increment `version`, so the stream workers ignore the update.
            return await reencryptField(table, cipher, { item, field: 'refreshToken', context });
          },
          { concurrency: reencryptConcurrency },
        );
        count += wasStale.filter(Boolean).length;
        checked += items.length;
        reportProgress?.(checked);
      }
      return count;
    },
  };
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

const refreshTokenContext = (appName: string, purchaseId: string): string => `${appName}/refresh/${purchaseId}`;

/** Returns the time of the next refresh from the index key. Empty if none is scheduled. */
const parseSchedule = ({ dueSk }: Item): Pick<StoredPurchase, 'nextRefreshAt'> =>
  dueSk === undefined ? {} : { nextRefreshAt: parseKeyTimestamp(String(dueSk)) };

interface ObservedPurchases {
  readonly appName: string;
  readonly observations: readonly Observation[];
  readonly username: string | undefined;
}

/** Reads the purchase items and the observed transactions, and the claims of a customer who is not entitled. */
async function findObservedPurchases(
  table: Table,
  { appName, observations, username }: ObservedPurchases,
): Promise<Map<string, ComparedPurchase>> {
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
      const hasUnusedClaim = claimedPartitions.has(purchasePartition(appName, purchaseId));
      return [purchaseId, { state, entitledUsers, hasUnusedClaim }];
    }),
  );
}

/**
 * Loads the purchase item with its claims and transactions. A query is not a snapshot: the version is read before it,
 * so that the conditional write fails if another writer changes the purchase during the query.
 */
async function loadStoredPurchase(
  table: Table,
  appName: string,
  { purchaseId, earlier }: { readonly purchaseId: string; readonly earlier: StoredPurchase | undefined },
): Promise<StoredPurchase | undefined> {
  const version = earlier?.version ?? (await findVersion(table, appName, purchaseId));
  if (version === undefined) return undefined;
  const stored = await findStoredPurchase(table, appName, purchaseId);
  return stored && { ...stored, version };
}

async function findVersion(table: Table, appName: string, purchaseId: string): Promise<number | undefined> {
  const item = await table.get(purchaseKey(appName, purchaseId));
  return item && parsePurchaseItem(item).version;
}

async function findStoredPurchase(
  table: Table,
  appName: string,
  purchaseId: string,
): Promise<StoredPurchase | undefined> {
  const items = await table.query({ partition: purchasePartition(appName, purchaseId) });
  const purchaseItem = items.find(({ sk }) => sk === purchaseKey(appName, purchaseId).sk);
  if (!purchaseItem) return undefined;
  const { purchase, asOf, isInferred, userAliases, refreshToken, ...stored } = parsePurchaseItem(purchaseItem);
  const transactions = items
    .filter(({ sk }) => String(sk).startsWith(transactionPrefix))
    .map((item) => parse(TransactionItem, item, 'DatabaseError'));
  const claims = items
    .filter(({ sk }) => String(sk).startsWith(claimPrefix))
    .map((item) => parse(Claim, item, 'DatabaseError'));
  const sharedClaims = items
    .filter(({ sk }) => String(sk).startsWith(sharedClaimPrefix))
    .map((item) => parse(SharedClaimItem, item, 'DatabaseError'));
  return {
    ...stored,
    ...parseSchedule(purchaseItem),
    state: { purchase, asOf, userAliases, transactions, ...omitUndefined({ isInferred, refreshToken }) },
    claims,
    sharedClaims,
  };
}
