import * as v from 'valibot';
import { attachUsdRates } from '../money/exchange-rates/attach-usd-rates.ts';
import type { ExchangeRates } from '../money/exchange-rates/rate-cache.ts';
import { Claim } from '../purchases/claims.ts';
import { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import type { SealedObservation } from '../purchases/merge.ts';
import type { Observation } from '../purchases/observation.ts';
import { Purchase } from '../purchases/purchase.ts';
import {
  computePurchaseChange,
  type PurchaseChange,
  type PurchaseUpdate,
  type StoredPurchase,
} from '../purchases/purchase-change.ts';
import { Transaction } from '../purchases/transaction.ts';
import type { Cipher } from '../shared/cipher.ts';
import { type ErrorCode, ServiceError } from '../shared/errors.ts';
import { parse, parseJson } from '../shared/parse.ts';
import { retryOnConflict } from '../shared/retry.ts';
import type { EpochMillis } from '../shared/time.ts';
import { buildHandledMarker, handledPartKey, type NotificationPart } from './handled-notification-repository.ts';
import {
  claimPrefix,
  customerKey,
  customerPartition,
  listPartition,
  notificationPrefix,
  ownedPurchasePrefix,
  purchaseKey,
  purchasePartition,
  transactionPrefix,
} from './keys.ts';
import { buildChangeTransactions } from './purchase-writes.ts';
import { reencryptField } from './reencrypt-field.ts';
import { scanIndex } from './scan-index.ts';
import type { Item, Table } from './table.ts';

const PurchaseItem = v.object({
  purchase: Purchase,
  asOf: v.number(),
  userAliases: v.array(v.string()),
  refreshToken: v.exactOptional(v.string()),
  entitledUsers: v.array(v.string()),
  createdAt: v.number(),
  updatedAt: v.number(),
  checkedAt: v.number(),
  lastRefreshAt: v.exactOptional(v.number()),
  failedRefreshes: v.exactOptional(v.number()),
  version: v.number(),
});
const TransactionItem = v.object({ transaction: Transaction, asOf: v.number(), amountAsOf: v.number() });
const NotificationItem = v.object({ id: v.string(), date: v.number(), reason: NotificationReason });
type NotificationItem = v.InferOutput<typeof NotificationItem>;

/** A purchase with its owners, without its transactions and claims. */
export interface EntitledPurchase {
  readonly purchase: Purchase;
  readonly entitledUsers: readonly string[];
}

/** Purchases of one table. An application's name is part of every key. */
export interface PurchaseRepository {
  find(appName: string, purchaseId: string): Promise<EntitledPurchase | undefined>;
  /** The same for several ids at once: those that there are. */
  findMany(appName: string, purchaseIds: readonly string[]): Promise<EntitledPurchase[]>;
  /** What the user owns, latest purchase first. */
  listByUser(appName: string, username: string): Promise<Purchase[]>;
  findRefreshState(appName: string, purchaseId: string): Promise<PurchaseRefreshState | undefined>;
  listTransactions(appName: string, purchaseIds: readonly string[]): Promise<Transaction[]>;
  /** Lifecycle notifications, oldest first. */
  listNotifications(appName: string, purchaseId: string): Promise<NotificationItem[]>;
  listClaims(appName: string, purchaseId: string): Promise<Claim[]>;
  /**
   * Takes in what happened to a purchase and writes what it changes in one transaction, again from the start when another
   * writer came first. Returns the purchase as it is then; undefined when there is none. Throws `Conflict` after ten tries.
   */
  recordPurchase(
    appName: string,
    purchaseId: string,
    happening: RecordPurchaseInput,
  ): Promise<RecordPurchaseResult | undefined>;
  /** Seals what refreshes need under the first master key; of how many purchases it was under another. */
  reencryptRefreshTokens(appName: string): Promise<number>;
}

/** What happened to a purchase, as adapters observe it. */
export type RecordPurchaseInput = Omit<PurchaseUpdate, 'observed' | 'replaced'> & {
  readonly observed?: Observation;
  /** The store's message that told of it: what it tells is taken in once, and marked so in the same transaction. */
  readonly notificationPart?: NotificationPart;
};

export interface RecordPurchaseResult {
  readonly stored: StoredPurchase;
  /** Undefined when the table already said it all. */
  readonly change?: PurchaseChange;
}

/** What the store must be shown to tell of a purchase again. */
export interface PurchaseRefreshState {
  readonly purchase: Purchase;
  /** Decrypted; undefined when the store cannot be asked. */
  readonly refreshToken?: Readonly<Record<string, string>>;
  readonly lastRefreshAt?: EpochMillis;
}

export function createPurchaseRepository(table: Table, cipher: Cipher, rates: ExchangeRates): PurchaseRepository {
  return {
    async find(appName, purchaseId) {
      const item = await table.get(purchaseKey(appName, purchaseId));
      return item && parsePurchaseItem(item);
    },
    async findMany(appName, purchaseIds) {
      const items = await table.batchGet([...new Set(purchaseIds)].map((id) => purchaseKey(appName, id)));
      return items.map(parsePurchaseItem);
    },
    async listByUser(appName, username) {
      const links = await table.query({ partition: customerPartition(appName, username), prefix: ownedPurchasePrefix });
      const ids = links.map(({ sk }) => String(sk).slice(ownedPurchasePrefix.length));
      const items = await table.batchGet(ids.map((id) => purchaseKey(appName, id)));
      return items
        .map(parsePurchaseItem)
        .filter(({ entitledUsers }) => entitledUsers.includes(username))
        .map(({ purchase }) => purchase)
        .sort((a, b) => (b.purchaseDate ?? 0) - (a.purchaseDate ?? 0));
    },
    async findRefreshState(appName, purchaseId) {
      const item = await table.get(purchaseKey(appName, purchaseId));
      if (!item) return undefined;
      const { purchase, refreshToken: sealedToken, lastRefreshAt } = parsePurchaseItem(item);
      const text = sealedToken && (await cipher.decrypt(sealedToken, refreshTokenContext(appName, purchaseId)));
      return {
        purchase,
        ...(text && { refreshToken: parseJson(v.record(v.string(), v.string()), text, 'DatabaseError') }),
        ...(lastRefreshAt !== undefined && { lastRefreshAt }),
      };
    },
    async listTransactions(appName, purchaseIds) {
      const lists = await Promise.all(
        purchaseIds.map((id) => table.query({ partition: purchasePartition(appName, id), prefix: transactionPrefix })),
      );
      return lists
        .flat()
        .map((item) => parse(TransactionItem, item, 'DatabaseError').transaction)
        .sort((a, b) => b.purchaseDate - a.purchaseDate);
    },
    async listNotifications(appName, purchaseId) {
      const items = await table.query({
        partition: purchasePartition(appName, purchaseId),
        prefix: notificationPrefix,
      });
      return items.map((item) => parse(NotificationItem, item, 'DatabaseError'));
    },
    async listClaims(appName, purchaseId) {
      const items = await table.query({ partition: purchasePartition(appName, purchaseId), prefix: claimPrefix });
      return items.map((item) => parse(Claim, item, 'DatabaseError'));
    },
    async recordPurchase(appName, purchaseId, { observed, notificationPart, ...happened }) {
      const sealedObservation = observed && (await encryptRefreshToken(cipher, appName, observed));
      const marker = notificationPart && handledPartKey(appName, notificationPart, purchaseId);
      return await retryOnConflict(async () => {
        const [before, handled] = await Promise.all([
          loadStoredPurchase(table, appName, purchaseId),
          marker && table.get(marker),
        ]);
        if (handled) return before && { stored: before };
        const replacedPurchase =
          before || !observed?.replacedPurchaseId
            ? undefined
            : await loadStoredPurchase(table, appName, observed.replacedPurchaseId);
        const observation =
          sealedObservation && (await attachUsdRates(sealedObservation, before?.state.transactions ?? [], rates));
        const change = computePurchaseChange(before, {
          ...happened,
          ...(observation && { observation }),
          ...(replacedPurchase && { replacedPurchase }),
        });
        const mark = marker ? [buildHandledMarker(table.name, marker, happened.now)] : [];
        if (!change && mark.length > 0) await table.transact(mark);
        if (!change) return before && { stored: before };
        const newcomers = await findNewCustomers(table, appName, change.gainedUsers);
        const transactions = buildChangeTransactions(table.name, appName, { change, together: mark, newcomers });
        for (const writes of transactions) await table.transact(writes);
        return { stored: change.after, change };
      });
    },
    async reencryptRefreshTokens(appName) {
      let found = 0;
      for await (const entries of scanIndex(table, { partition: listPartition(appName, 'P'), index: 'byCreated' })) {
        const items = await table.batchGet(entries.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })));
        for (let start = 0; start < items.length; start += reencryptBatchSize) {
          const portion = items.slice(start, start + reencryptBatchSize);
          found += (await Promise.all(portion.map((item) => reencryptItem(table, cipher, { appName, item })))).filter(
            Boolean,
          ).length;
        }
      }
      return found;
    },
  };
}

const reencryptBatchSize = 25;

/** The update leaves the version as it is: no worker of the stream takes it for a change of the purchase. */
const reencryptItem = async (
  table: Table,
  cipher: Cipher,
  { appName, item }: { appName: string; item: Item },
): Promise<boolean> => {
  const context = refreshTokenContext(appName, parsePurchaseItem(item).purchase.purchaseId);
  return await reencryptField(table, cipher, { item, field: 'refreshToken', context });
};

/** Those who have owned nothing yet. The item of one who has is not touched: purchases of one receipt would wait for each other. */
async function findNewCustomers(table: Table, appName: string, usernames: readonly string[]): Promise<string[]> {
  const known = await table.batchGet(usernames.map((username) => customerKey(appName, username)));
  const keys = new Set(known.map(({ pk }) => pk));
  return usernames.filter((username) => !keys.has(customerKey(appName, username).pk));
}

const refreshTokenContext = (appName: string, purchaseId: string): string => `${appName}/refresh/${purchaseId}`;

/** The observation with its refresh token encrypted for this purchase alone. */
async function encryptRefreshToken(
  cipher: Cipher,
  appName: string,
  { refreshToken, ...observation }: Observation,
): Promise<SealedObservation> {
  if (!refreshToken) return observation;
  const context = refreshTokenContext(appName, observation.purchase.purchaseId);
  return { ...observation, refreshToken: await cipher.encrypt(JSON.stringify(refreshToken), context) };
}

/** The item of a purchase as reads see it. */
export const parsePurchaseItem = (item: Item): v.InferOutput<typeof PurchaseItem> =>
  parse(PurchaseItem, item, 'DatabaseError');

/**
 * The whole purchase: state, claims and transactions. A query is no snapshot, as its rows are read one after the other: the
 * version is that of before, so that whoever writes between its rows is noticed when the change is written.
 */
async function loadStoredPurchase(
  table: Table,
  appName: string,
  purchaseId: string,
): Promise<StoredPurchase | undefined> {
  const first = await table.get(purchaseKey(appName, purchaseId));
  if (!first) return undefined;
  const items = await table.query({ partition: purchasePartition(appName, purchaseId) });
  const state = items.find(({ sk }) => sk === 'P');
  if (!state) return undefined;
  const { purchase, asOf, userAliases, refreshToken, ...stored } = parse(PurchaseItem, state, 'DatabaseError');
  const transactions = items
    .filter(({ sk }) => String(sk).startsWith(transactionPrefix))
    .map((item) => parse(TransactionItem, item, 'DatabaseError'));
  const claims = items
    .filter(({ sk }) => String(sk).startsWith(claimPrefix))
    .map((item) => parse(Claim, item, 'DatabaseError'));
  return {
    ...stored,
    version: parse(PurchaseItem, first, 'DatabaseError').version,
    state: { purchase, asOf, userAliases, transactions, ...(refreshToken && { refreshToken }) },
    claims,
  };
}
