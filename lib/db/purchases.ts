import * as v from 'valibot';
import type { Cipher } from '../apps/cipher.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import type { Rates } from '../exchange-rates/cached-rates.ts';
import { pricedLook } from '../exchange-rates/priced-look.ts';
import { NotificationReason } from '../notifications/reasons.ts';
import { parse, parseJson } from '../parse.ts';
import { type Change, changeOf, type Happening, type StoredPurchase } from '../purchases/change.ts';
import { Claim } from '../purchases/claims.ts';
import type { Seen } from '../purchases/merge.ts';
import type { Observation } from '../purchases/observation.ts';
import { type Millis, Purchase } from '../purchases/purchase.ts';
import { Transaction } from '../transactions/transaction.ts';
import { entriesOf } from './index-entries.ts';
import {
  claimPrefix,
  customerKey,
  customerPartition,
  linkPrefix,
  listPartition,
  notificationPrefix,
  purchaseKey,
  purchasePartition,
  transactionPrefix,
} from './keys.ts';
import { handledWrite, type MessagePart, partKey } from './messages.ts';
import { changeWrites } from './purchase-writes.ts';
import { reseal } from './reseal.ts';
import type { Item, Table } from './table.ts';

const StoredItem = v.object({
  purchase: Purchase,
  asOf: v.number(),
  userTokens: v.array(v.string()),
  refreshToken: v.exactOptional(v.string()),
  entitledUsers: v.array(v.string()),
  createdAt: v.number(),
  updatedAt: v.number(),
  seenAt: v.number(),
  refreshedAt: v.exactOptional(v.number()),
  failures: v.exactOptional(v.number()),
  version: v.number(),
});
const TransactionItem = v.object({ transaction: Transaction, asOf: v.number(), amountAsOf: v.number() });
const NotificationItem = v.object({ id: v.string(), date: v.number(), reason: NotificationReason });
type PurchaseNotificationItem = v.InferOutput<typeof NotificationItem>;

/** A purchase with its owners, without its transactions and claims. */
export interface FoundPurchase {
  readonly purchase: Purchase;
  readonly entitledUsers: readonly string[];
}

/** Purchases of one table. An application's name is part of every key. */
export interface Purchases {
  find(app: string, purchaseId: string): Promise<FoundPurchase | undefined>;
  /** The same for several ids at once: those that there are. */
  findAll(app: string, purchaseIds: readonly string[]): Promise<FoundPurchase[]>;
  /** What the user owns, latest purchase first. */
  ownedBy(app: string, username: string): Promise<Purchase[]>;
  refreshable(app: string, purchaseId: string): Promise<Refreshable | undefined>;
  transactionsOf(app: string, purchaseIds: readonly string[]): Promise<Transaction[]>;
  /** Lifecycle notifications, oldest first. */
  notificationsOf(app: string, purchaseId: string): Promise<PurchaseNotificationItem[]>;
  claimsOf(app: string, purchaseId: string): Promise<Claim[]>;
  /**
   * Takes in what happened to a purchase and writes what it changes in one transaction, again from the start when another
   * writer came first. Returns the purchase as it is then; undefined when there is none. Throws `Conflict` after ten tries.
   */
  record(app: string, purchaseId: string, happening: Happened): Promise<Recorded | undefined>;
  /** Seals what refreshes need under the first master key; of how many purchases it was under another. */
  reseal(app: string): Promise<number>;
}

/** What happened to a purchase, as adapters observe it. */
export type Happened = Omit<Happening, 'observed' | 'replaced'> & {
  readonly observed?: Observation;
  /** The store's message that told of it: what it tells is taken in once, and marked so in the same transaction. */
  readonly message?: MessagePart;
};

export interface Recorded {
  readonly stored: StoredPurchase;
  /** Undefined when the table already said it all. */
  readonly change?: Change;
}

/** What the store must be shown to tell of a purchase again. */
export interface Refreshable {
  readonly purchase: Purchase;
  /** Decrypted; undefined when the store cannot be asked. */
  readonly refreshToken?: Readonly<Record<string, string>>;
  readonly refreshedAt?: Millis;
}

export function purchasesOf(table: Table, cipher: Cipher, rates: Rates): Purchases {
  return {
    async find(app, purchaseId) {
      const item = await table.get(purchaseKey(app, purchaseId));
      return item && found(item);
    },
    async findAll(app, purchaseIds) {
      const items = await table.batchGet([...new Set(purchaseIds)].map((id) => purchaseKey(app, id)));
      return items.map(found);
    },
    async ownedBy(app, username) {
      const links = await table.query({ partition: customerPartition(app, username), prefix: linkPrefix });
      const ids = links.map(({ sk }) => String(sk).slice(linkPrefix.length));
      const items = await table.batchGet(ids.map((id) => purchaseKey(app, id)));
      return items
        .map(found)
        .filter(({ entitledUsers }) => entitledUsers.includes(username))
        .map(({ purchase }) => purchase)
        .sort((a, b) => (b.purchaseDate ?? 0) - (a.purchaseDate ?? 0));
    },
    async refreshable(app, purchaseId) {
      const item = await table.get(purchaseKey(app, purchaseId));
      if (!item) return undefined;
      const { purchase, refreshToken: sealedToken, refreshedAt } = found(item);
      const text = sealedToken && (await cipher.decrypt(sealedToken, refreshContext(app, purchaseId)));
      return {
        purchase,
        ...(text && { refreshToken: parseJson(v.record(v.string(), v.string()), text, 'DatabaseError') }),
        ...(refreshedAt !== undefined && { refreshedAt }),
      };
    },
    async transactionsOf(app, purchaseIds) {
      const lists = await Promise.all(
        purchaseIds.map((id) => table.query({ partition: purchasePartition(app, id), prefix: transactionPrefix })),
      );
      return lists
        .flat()
        .map((item) => parse(TransactionItem, item, 'DatabaseError').transaction)
        .sort((a, b) => b.purchaseDate - a.purchaseDate);
    },
    async notificationsOf(app, purchaseId) {
      const items = await table.query({ partition: purchasePartition(app, purchaseId), prefix: notificationPrefix });
      return items.map((item) => parse(NotificationItem, item, 'DatabaseError'));
    },
    async claimsOf(app, purchaseId) {
      const items = await table.query({ partition: purchasePartition(app, purchaseId), prefix: claimPrefix });
      return items.map((item) => parse(Claim, item, 'DatabaseError'));
    },
    async record(app, purchaseId, { observed, message, ...happened }) {
      const seen = observed && (await sealed(cipher, app, observed));
      const marker = message && partKey(app, message, purchaseId);
      return await againOnConflict(async () => {
        const [before, handled] = await Promise.all([load(table, app, purchaseId), marker && table.get(marker)]);
        if (handled) return before && { stored: before };
        const replaced = before || !observed?.replaces ? undefined : await load(table, app, observed.replaces);
        const look = seen && (await pricedLook(seen, before?.known.transactions ?? [], rates));
        const change = changeOf(before, {
          ...happened,
          ...(look && { observed: look }),
          ...(replaced && { replaced }),
        });
        const mark = marker ? [handledWrite(table.name, marker, happened.now)] : [];
        if (!change && mark.length > 0) await table.transact(mark);
        if (!change) return before && { stored: before };
        const newcomers = await newcomersOf(table, app, change.gained);
        const transactions = changeWrites(table.name, app, { change, together: mark, newcomers });
        for (const writes of transactions) await table.transact(writes);
        return { stored: change.after, change };
      });
    },
    async reseal(app) {
      let found = 0;
      for await (const entries of entriesOf(table, { partition: listPartition(app, 'P'), index: 'byCreated' })) {
        const items = await table.batchGet(entries.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })));
        for (let start = 0; start < items.length; start += resealedTogether) {
          const portion = items.slice(start, start + resealedTogether);
          found += (await Promise.all(portion.map((item) => resealed(table, cipher, { app, item })))).filter(
            Boolean,
          ).length;
        }
      }
      return found;
    },
  };
}

const resealedTogether = 25;

/** The update leaves the version as it is: no worker of the stream takes it for a change of the purchase. */
const resealed = async (table: Table, cipher: Cipher, { app, item }: { app: string; item: Item }): Promise<boolean> => {
  const context = refreshContext(app, found(item).purchase.purchaseId);
  return await reseal(table, cipher, { item, field: 'refreshToken', context });
};

/** Those who have owned nothing yet. The item of one who has is not touched: purchases of one receipt would wait for each other. */
async function newcomersOf(table: Table, app: string, usernames: readonly string[]): Promise<string[]> {
  const known = await table.batchGet(usernames.map((username) => customerKey(app, username)));
  const keys = new Set(known.map(({ pk }) => pk));
  return usernames.filter((username) => !keys.has(customerKey(app, username).pk));
}

const refreshContext = (app: string, purchaseId: string): string => `${app}/refresh/${purchaseId}`;

/** The observation with its refresh token encrypted for this purchase alone. */
async function sealed(cipher: Cipher, app: string, { refreshToken, ...look }: Observation): Promise<Seen> {
  if (!refreshToken) return look;
  const context = refreshContext(app, look.purchase.purchaseId);
  return { ...look, refreshToken: await cipher.encrypt(JSON.stringify(refreshToken), context) };
}

/** The item of a purchase as reads see it. */
export const listedPurchase = (item: Item): FoundPurchase => found(item);
const found = (item: Item): v.InferOutput<typeof StoredItem> => parse(StoredItem, item, 'DatabaseError');

/**
 * The whole purchase: state, claims and transactions. A query is no snapshot, as its rows are read one after the other: the
 * version is that of before, so that whoever writes between its rows is noticed when the change is written.
 */
async function load(table: Table, app: string, purchaseId: string): Promise<StoredPurchase | undefined> {
  const first = await table.get(purchaseKey(app, purchaseId));
  if (!first) return undefined;
  const items = await table.query({ partition: purchasePartition(app, purchaseId) });
  const state = items.find(({ sk }) => sk === 'P');
  if (!state) return undefined;
  const { purchase, asOf, userTokens, refreshToken, ...stored } = parse(StoredItem, state, 'DatabaseError');
  const transactions = items
    .filter(({ sk }) => String(sk).startsWith(transactionPrefix))
    .map((item) => parse(TransactionItem, item, 'DatabaseError'));
  const claims = items
    .filter(({ sk }) => String(sk).startsWith(claimPrefix))
    .map((item) => parse(Claim, item, 'DatabaseError'));
  return {
    ...stored,
    version: parse(StoredItem, first, 'DatabaseError').version,
    known: { purchase, asOf, userTokens, transactions, ...(refreshToken && { refreshToken }) },
    claims,
  };
}

const attempts = 10;

async function againOnConflict<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (thrown) {
      if (!isConflict(thrown) || attempt === attempts) throw thrown;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * 2 ** Math.min(attempt, 5)));
    }
  }
}

const isConflict = (thrown: unknown): boolean =>
  thrown instanceof ServiceError && thrown.code === ('Conflict' satisfies ErrorCode);
