import * as v from 'valibot';
import { OptionalNumber } from '../api/schemas.ts';
import { allTimestamps, type Key, toKey, toShortDigest, toTtl } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { dueIndexKeys } from '../foundation/keys.ts';
import { scanShards } from '../foundation/merge-shards.ts';
import { parse } from '../foundation/parse.ts';
import { type CursorPage, readCursorPage } from '../foundation/read-cursor-page.ts';
import type { Service } from '../foundation/service.ts';
import type { Item, Write } from '../foundation/table.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import { buildVersionCondition, retryUntilWritten, tryWrite } from '../foundation/updates.ts';
import { CreditAccount, compactAccount, createAccount, findNextEnd, MovedCredits, passTime } from './credit-account.ts';
import { CreditEntry } from './credit-entry.ts';
import { PurchaseCredits } from './purchase-credits.ts';

/** Time in which a repeated request finds that it was refused. */
const refusalRetentionMs = 30 * dayMs;

/** Identifies the credits of a customer. */
export type AccountId = Pick<CreditAccount, 'username' | 'isSandbox'>;

/** Production and the sandbox have an account each. */
const toAccountName = (isSandbox: boolean): string => (isSandbox ? 'S' : 'P');

export async function findAccount(
  { table }: Service,
  appName: string,
  { username, isSandbox }: AccountId,
): Promise<CreditAccount> {
  const item = await table.get(keys.creditAccountKey(appName, username, toAccountName(isSandbox)));
  return item ? parse(CreditAccount, item, 'DatabaseError') : createAccount(username, isSandbox);
}

/** A change of two accounts leaves room for its own entries in a transaction, which has at most 100 writes. */
const maxExpiries = 8;

/**
 * Returns an account as of `now`, for a change that also writes its expiries. Writes the expiries of a customer with
 * many credits first.
 */
export async function openAccount(
  service: Service,
  appName: string,
  id: AccountId,
  now: EpochMillis,
): Promise<CreditAccount> {
  for (;;) {
    const stored = await findAccount(service, appName, id);
    const account = passTime(stored, now);
    if ((account.expiries ?? []).length <= maxExpiries) return account;
    await saveCredits(service, appName, { accounts: [passTime(stored, now, maxExpiries)], entries: [] });
  }
}

export async function findEntry(
  { table }: Service,
  appName: string,
  { username, isSandbox, entryId }: AccountId & Pick<CreditEntry, 'entryId'>,
): Promise<CreditEntry | undefined> {
  const item = await table.get(keys.creditEntryKey(appName, username, toAccountName(isSandbox), entryId));
  return item && parse(CreditEntry, item, 'DatabaseError');
}

export async function findPurchaseCredits(
  { table }: Service,
  appName: string,
  purchaseId: string,
): Promise<PurchaseCredits | undefined> {
  const item = await table.get(keys.purchaseCreditsKey(appName, purchaseId));
  return item && parse(PurchaseCredits, item, 'DatabaseError');
}

/** What a merge has moved to a customer. It does not contain the name of the merged customer. */
const CreditMove = v.object({
  mergeId: v.string(),
  isSandbox: v.boolean(),
  ...MovedCredits.entries,
  reversedAt: OptionalNumber,
  version: v.number(),
});
export type CreditMove = v.InferOutput<typeof CreditMove>;

export async function findMove(
  { table }: Service,
  appName: string,
  to: string,
  id: Pick<CreditMove, 'mergeId' | 'isSandbox'>,
): Promise<CreditMove | undefined> {
  const item = await table.get(toMoveKey(appName, to, id));
  return item && parse(CreditMove, item, 'DatabaseError');
}

const toMoveKey = (appName: string, to: string, { mergeId, isSandbox }: Pick<CreditMove, 'mergeId' | 'isSandbox'>) =>
  keys.creditMoveKey(appName, to, toAccountName(isSandbox), mergeId);

/** What one change writes at once. */
interface CreditChange {
  /** Changed accounts with the version that they were read with. */
  readonly accounts: readonly CreditAccount[];
  readonly entries: readonly CreditEntry[];
  readonly purchase?: PurchaseCredits;
  /** What a merge has moved to a customer. */
  readonly move?: { readonly to: string; readonly move: CreditMove };
}

/** Writes a change in one transaction. Returns false if another writer was faster, or an entry exists. */
export async function saveCredits(
  { table, now }: Service,
  appName: string,
  { accounts, entries, purchase, move: moved }: CreditChange,
): Promise<boolean> {
  const writes: Write[] = [
    ...(purchase ? [buildPut(table.name, keys.purchaseCreditsKey(appName, purchase.purchaseId), purchase)] : []),
    ...(moved ? [buildPut(table.name, toMoveKey(appName, moved.to, moved.move), moved.move)] : []),
    ...accounts.map(({ expiries: _expiries, createdAt = now(), ...account }) => {
      const compacted = { ...compactAccount(account), createdAt };
      return buildPut(table.name, toAccountKeys(appName, compacted), compacted);
    }),
    ...[...accounts.flatMap(listExpiryEntries), ...entries].map((entry) => buildEntryPut(table.name, appName, entry)),
  ];
  return await tryWrite(async () => await table.transact(writes));
}

/** Returns the keys of an account, also in the list of all accounts of the app, and of its next end. */
const toAccountKeys = (appName: string, account: CreditAccount & { readonly createdAt: EpochMillis }): Key => {
  const { username, isSandbox, createdAt } = account;
  const key = keys.creditAccountKey(appName, username, toAccountName(isSandbox));
  const end = findNextEnd(account);
  return {
    ...key,
    ...keys.creditAccountList.entry(appName, `${key.sk}#${username}`, createdAt),
    ...(end !== undefined && dueIndexKeys(key, end)),
  };
};

/** Writes an entry for the units of an account that have ended. Nothing if the customer was erased since. */
export async function endCredits(
  service: Service,
  {
    appName,
    username,
    account: name,
  }: { readonly appName: string; readonly username: string; readonly account: string },
): Promise<void> {
  const id = { username, isSandbox: name === toAccountName(true) };
  await retryUntilWritten(async () => {
    const account = await openAccount(service, appName, id, service.now());
    const isSaved =
      account.version === 0 || (await saveCredits(service, appName, { accounts: [account], entries: [] }));
    return isSaved ? account : undefined;
  });
}

/** An account that is read when it is used: one that is not readable does not affect the others. */
interface ScannedAccount {
  readonly username: string;
  readonly read: () => CreditAccount;
}

/** Scans all accounts of the app in batches. */
export async function* scanAccounts({ table }: Service, appName: string): AsyncIterable<ScannedAccount[]> {
  const partitions = keys.creditAccountList.partitions(appName);
  for await (const entries of scanShards(table, { partitions, index: 'byCreated', between: allTimestamps }))
    yield (await table.batchGet(entries.map(toKey))).map((item) => ({
      username: keys.customerKey.parsePartition(String(item.pk)).username,
      read: () => parse(CreditAccount, item, 'DatabaseError'),
    }));
}

const listExpiryEntries = ({ username, isSandbox, version, expiries = [] }: CreditAccount): CreditEntry[] =>
  expiries.map((expiry, index) => {
    const id = toShortDigest(JSON.stringify([username, isSandbox, version, index]));
    return { entryId: `expiry_${id}`, username, isSandbox, type: 'expired', ...expiry };
  });

/** Replaces an item if it has the version of `fields`, which increases. Version 0 is a new item. */
function buildPut(TableName: string, key: Key, fields: Item & { readonly version: number }): Write {
  const { version } = fields;
  return { Put: { TableName, Item: { ...key, ...fields, version: version + 1 }, ...buildVersionCondition(version) } };
}

/** An entry of a refused request is not listed, and is deleted. One of units of another customer is not listed. */
function buildEntryPut(TableName: string, appName: string, entry: CreditEntry): Write {
  const { username, entryId, at } = entry;
  const account = toAccountName(entry.isSandbox);
  const rest = {
    ...(entry.isRefused && { ttl: toTtl(at + refusalRetentionMs) }),
    ...(!entry.isRefused && !entry.isForwarded && keys.creditEntryListKeys(appName, account, username, at, entryId)),
  };
  const Item = { ...keys.creditEntryKey(appName, username, account, entryId), ...rest, ...entry };
  return { Put: { TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' } };
}

/** Lists a page of the history, latest first. */
export const listEntries = async (
  { table }: Service,
  appName: string,
  { username, isSandbox, limit, cursor }: AccountId & { readonly limit: number; readonly cursor?: string | undefined },
): Promise<CursorPage<CreditEntry>> =>
  await readCursorPage(
    {
      readBefore: async (position, batchSize) => {
        const partition = keys.creditEntryListKeys.partition(appName, toAccountName(isSandbox), username);
        const before = position === undefined ? {} : { before: position };
        const rows = await table.query({
          partition,
          index: 'byCreated',
          ...before,
          limit: batchSize,
          newestFirst: true,
        });
        return rows.map((row) => ({ ...toKey(row), sortKey: String(row.createdSk) }));
      },
      load: async (entries) => {
        const items = await table.batchGet(entries);
        const byKey = new Map(items.map((item) => [String(item.sk), parse(CreditEntry, item, 'DatabaseError')]));
        return entries.map(({ sk }) => byKey.get(sk));
      },
    },
    { limit, cursor, maxScanned: limit },
  );
