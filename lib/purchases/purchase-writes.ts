import { splitIntoChunks } from '../foundation/batches.ts';
import { packEventId } from '../foundation/event-id.ts';
import { type Key, toTtl } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { dueIndexKeys } from '../foundation/keys.ts';
import { maxTransactionWrites, type Table, type Update, type Write } from '../foundation/table.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import { buildUpdate } from '../foundation/updates.ts';
import { buildAnnouncements } from './announcement.ts';
import type { Claim } from './claims.ts';
import type { ObservedTransaction } from './merge-transactions.ts';
import type { Payer } from './payment-figures.ts';
import { isSubscription } from './purchase.ts';
import type { PurchaseChange } from './purchase-change.ts';
import { findIntervalCheck } from './refresh-schedule.ts';
import { listRefundKeys } from './refunds.ts';
import type { NotificationPart, StoredPurchase } from './stored-purchase.ts';
import { normalizeAlias } from './user-aliases.ts';

/** The customer's first payment. */
interface FirstPayer {
  /** Name of its attribute in the customer item. Sandbox and production have one each. */
  readonly name: 'payer' | 'sandboxPayer';
  readonly payer: Payer;
}

interface ChangeWriteInput {
  readonly change: PurchaseChange;
  /** Handled markers, written in the transaction of the purchase item. */
  readonly markers: readonly Write[];
}

/** A version without an announcement. The event filter of the fan-out omits it: see infra/worker-definitions.ts. */
const isUnannounced = true;

/** Retention of the alias links of an unclaimed purchase. Longer than a paid period of one year. */
const unclaimedRetentionMs = 400 * dayMs;

/** Retention of handled markers. Longer than any store resends a notification. */
const markerRetentionMs = 30 * dayMs;

/**
 * Builds the transactions that write a change, usually one. A change with more than 100 writes is split in this order:
 * items without a separate effect (transactions, claims copied from a replaced purchase), the purchase under the
 * condition on its version. After a crash in between, recording the update again completes the change. New customers
 * and links are written before, stale links are deleted after it: see owned-purchase-links.ts.
 */
export function buildChangeTransactions(
  table: string,
  appName: string,
  { change, markers }: ChangeWriteInput,
): Write[][] {
  const { copiedClaims } = change;
  // A claim of the update itself is written with the purchase: if another writer creates the purchase first, it must
  // not stay stored with the earlier time.
  const claims = change.newClaims.filter((claim) => !copiedClaims.includes(claim));
  const buildTransactionWrites = (transactions: readonly ObservedTransaction[]) =>
    transactions.map((observed) => buildTransactionWrite(table, appName, { observed, change }));
  const writesBefore = [
    ...buildTransactionWrites(change.changedTransactions.filter((observed) => !isNewRefund(observed, change))),
    ...buildTransactionWrites(change.changedFigures),
    ...buildClaimWrites(table, appName, { change, claims: copiedClaims }),
  ];
  const purchaseWrites = [
    ...markers,
    buildPurchaseWrite(table, appName, change),
    ...buildClaimWrites(table, appName, { change, claims }),
    ...buildClaimDeletes(table, appName, change),
    ...buildNotificationWrites(table, appName, change),
    ...buildTransactionWrites(change.changedTransactions.filter((observed) => isNewRefund(observed, change))),
    ...buildTransactionDeletes(table, appName, change),
    ...buildUnclaimedWrites(table, appName, change),
    ...buildMergeLogWrites(table, appName, change),
  ];
  const writes = [...writesBefore, ...purchaseWrites];
  return writes.length <= maxTransactionWrites
    ? [writes]
    : [writesBefore, purchaseWrites].flatMap((part) => splitIntoChunks(part, maxTransactionWrites));
}

function buildPurchaseWrite(table: string, appName: string, change: PurchaseChange): Write {
  const { before, after, announcedReasons, announcedUsers, eventId } = change;
  const { state, claims: _claims, nextRefreshAt: _due, ...stored } = after;
  const { transactions: _transactions, ...purchaseState } = state;
  // The index keys contain the times: see `addKeyTimes`.
  const { createdAt: _createdAt, updatedAt: _updatedAt, ...bookkeeping } = stored;
  const { purchaseId, appTransactionId } = state.purchase;
  const key = keys.purchaseKey(appName, purchaseId);
  return {
    Put: {
      TableName: table,
      Item: {
        ...key,
        ...keys.purchaseIndexKeys(appName, purchaseId, after),
        ...(appTransactionId !== undefined && keys.storeAccountKeys(appName, appTransactionId, purchaseId)),
        ...buildDueKeys(key, after),
        ...bookkeeping,
        ...purchaseState,
        // The fan-out derives the announcements of this version from the reasons: see lib/purchases/announcement.ts.
        announcedReasons,
        ...(announcedReasons.length === 0
          ? { isUnannounced }
          : eventId !== undefined && { event: packEventId(eventId) }),
        ...(givesCredits(state) && { givesCredits: true }),
        ...(announcedUsers && { announcedUsers }),
      },
      ...(before
        ? { ConditionExpression: 'version = :version', ExpressionAttributeValues: { ':version': before.version } }
        : { ConditionExpression: 'attribute_not_exists(pk)' }),
    },
  };
}

/** The event filter of the fan-out selects such purchases. */
const givesCredits = ({ transactions }: StoredPurchase['state']): boolean =>
  transactions.some(({ transaction }) => transaction.credits !== undefined);

const buildDueKeys = (key: Key, { state: { purchase }, nextRefreshAt, isNotified }: StoredPurchase) =>
  nextRefreshAt === undefined
    ? undefined
    : dueIndexKeys(key, nextRefreshAt, findIntervalCheck(purchase, nextRefreshAt, isNotified));

/**
 * Builds the update of an unchanged purchase after a check. It is not a transaction and does not move the purchase in
 * the index of changed purchases.
 */
export function buildCheckUpdate(appName: string, { before, after }: PurchaseChange): Update {
  const { asOf, isInferred, refreshToken, userAliases, purchase } = after.state;
  const { version, checkedAt, activePeriods, lastRefreshAt, failedRefreshes, isNotified } = after;
  const key = keys.purchaseKey(appName, purchase.purchaseId);
  const dueKeys = buildDueKeys(key, after);
  return buildUpdate(
    key,
    {
      asOf,
      isInferred,
      refreshToken,
      userAliases,
      version,
      checkedAt,
      activePeriods,
      lastRefreshAt,
      failedRefreshes,
      isNotified,
      duePk: dueKeys?.duePk,
      dueSk: dueKeys?.dueSk,
      announcedReasons: [],
      isUnannounced,
      announcedUsers: undefined,
    },
    { expression: 'version = :before', values: { ':before': before?.version ?? 0 } },
  );
}

function buildTransactionWrite(
  table: string,
  appName: string,
  { observed, change }: { observed: ObservedTransaction; change: PurchaseChange },
): Write {
  const { transaction, ...times } = observed;
  const { purchaseId, transactionId } = transaction;
  return {
    Put: {
      TableName: table,
      Item: {
        ...keys.transactionKey(appName, purchaseId, transactionId),
        ...keys.transactionIndexKeys(appName, purchaseId, transaction),
        transaction,
        ...times,
      },
      // In a split change the transaction is written before the purchase, whose condition does not protect it.
      ...(change.before && buildUnchangedCondition(findPreviousTransaction(change, transactionId))),
    },
  };
}

const buildTransactionDeletes = (table: string, appName: string, { removedTransactions }: PurchaseChange): Write[] =>
  removedTransactions.map(({ transaction: { purchaseId, transactionId } }) => ({
    Delete: { TableName: table, Key: keys.transactionKey(appName, purchaseId, transactionId) },
  }));

const findPreviousTransaction = ({ before }: PurchaseChange, id: string): ObservedTransaction | undefined =>
  before?.state.transactions.find(({ transaction }) => transaction.transactionId === id);

const buildUnchangedCondition = (previous: ObservedTransaction | undefined) =>
  previous === undefined
    ? { ConditionExpression: 'attribute_not_exists(pk)' }
    : {
        ConditionExpression: [
          'asOf = :asOf',
          'amountAsOf = :amountAsOf',
          buildPresenceCondition('isInferred', previous.isInferred),
          buildPresenceCondition('isAmountInferred', previous.isAmountInferred),
        ].join(' AND '),
        ExpressionAttributeValues: { ':asOf': previous.asOf, ':amountAsOf': previous.amountAsOf },
      };

const buildPresenceCondition = (attribute: string, isPresent: true | undefined): string =>
  `${isPresent ? 'attribute_exists' : 'attribute_not_exists'}(${attribute})`;

/**
 * A refund is written with the purchase item: if it were written before a crash, the repeated update would find no
 * change and the refund would never be announced.
 */
function isNewRefund({ transaction }: ObservedTransaction, change: PurchaseChange): boolean {
  const previous = findPreviousTransaction(change, transaction.transactionId)?.transaction;
  const previousKeys = listRefundKeys(previous ? [previous] : []);
  return listRefundKeys([transaction]).some((key) => !previousKeys.includes(key));
}

function buildNotificationWrites(table: string, appName: string, { after, lifecycleReasons }: PurchaseChange): Write[] {
  const { state, version, updatedAt } = after;
  const { purchaseId, platform, productId, sandbox } = state.purchase;
  const counted = {
    platform,
    productId,
    ...(isSubscription(state.purchase) && { isSubscription: true }),
    ...(sandbox && { sandbox }),
  };
  const announcements = buildAnnouncements({ appName, purchaseId, version, updatedAt }, lifecycleReasons);
  return announcements.map(({ id, date, reason }, position) => {
    const key = keys.notificationKey(appName, purchaseId, date, position, id);
    return { Put: { TableName: table, Item: { ...key, id, date, reason, ...counted } } };
  });
}

/** Logs a moved claim in the partition of the customer who has received it, without the name of the merged customer. */
function buildMergeLogWrites(table: string, appName: string, { after, movedClaim }: PurchaseChange): Write[] {
  if (!movedClaim) return [];
  const { mergeId, movedAt, result, replaced } = movedClaim;
  const { username: _username, ...claim } = movedClaim.claim ?? {};
  const { purchaseId } = after.state.purchase;
  const key = keys.movedClaimKey(appName, result.username, mergeId, movedAt, purchaseId);
  const before = { ...(movedClaim.claim && { claim }), ...(replaced && { replaced }) };
  const Item = { ...key, mergeId, movedAt, purchaseId, result, ...before };
  return [{ Put: { TableName: table, Item } }];
}

/** Files an unclaimed purchase under the user aliases of its store, and removes it from there once it is claimed. */
function buildUnclaimedWrites(table: string, appName: string, { before, after }: PurchaseChange): Write[] {
  const { purchaseId } = after.state.purchase;
  const unclaimedAliases = listUnclaimedAliases(before);
  const aliases = listUnclaimedAliases(after);
  const ttl = toTtl(after.updatedAt + unclaimedRetentionMs);
  const newAliases = aliases.filter((alias) => !unclaimedAliases.includes(alias));
  const staleAliases = unclaimedAliases.filter((alias) => !aliases.includes(alias));
  return [
    ...staleAliases.map((alias) => ({
      Delete: { TableName: table, Key: keys.unclaimedKey(appName, alias, purchaseId) },
    })),
    ...newAliases.map((alias) => ({
      Put: { TableName: table, Item: { ...keys.unclaimedKey(appName, alias, purchaseId), ttl } },
    })),
  ];
}

/** Lists the aliases that a purchase is filed under: all of them while it is unclaimed. */
const listUnclaimedAliases = (stored: StoredPurchase | undefined): string[] =>
  stored?.claims.length === 0 ? [...new Set(stored.state.userAliases.map(normalizeAlias))] : [];

const buildClaimWrites = (
  table: string,
  appName: string,
  { change, claims }: { change: PurchaseChange; claims: readonly Claim[] },
): Write[] => {
  const { purchaseId } = change.after.state.purchase;
  return claims.map((claim) => {
    const { username, firstClaimedAt: date } = claim;
    const key = keys.claimKey(appName, purchaseId, username);
    const indexKeys = keys.namingIndexKeys({ appName, username, kind: 'claim', date }, key);
    return { Put: { TableName: table, Item: { ...key, ...indexKeys, ...claim } } };
  });
};

function buildClaimDeletes(
  table: string,
  appName: string,
  { after, evictedClaims, appliedClaims }: PurchaseChange,
): Write[] {
  const { purchaseId } = after.state.purchase;
  const deletedKeys = [
    ...evictedClaims.map(({ username }) => keys.claimKey(appName, purchaseId, username)),
    ...appliedClaims.map(({ id }) => keys.sharedClaimKey(appName, purchaseId, id)),
  ];
  return deletedKeys.map((Key) => ({ Delete: { TableName: table, Key } }));
}

/** Builds the write that stores the first payment of a customer who exists. */
export const buildPayerUpdate = (appName: string, username: string, { name, payer }: FirstPayer): Update =>
  buildUpdate(
    keys.customerKey(appName, username),
    { [name]: payer },
    { expression: `attribute_exists(pk) AND attribute_not_exists(${name})` },
  );

/**
 * Builds the key of the handled marker of one purchase. The only purchase of a notification uses the notification's
 * key.
 */
export const handledPartKey = (
  appName: string,
  { platform, key, isPartOfSeveral }: NotificationPart,
  purchaseId: string,
): Key =>
  isPartOfSeveral
    ? keys.handledNotificationPartKey(appName, platform, key, purchaseId)
    : keys.handledNotificationKey(appName, platform, key);

/** Builds the conditional write of a handled marker. It fails if another worker has handled the notification. */
export const buildHandledMarker = (table: string, key: Key, now: EpochMillis): Write => ({
  Put: { TableName: table, Item: buildMarkerItem(key, now), ConditionExpression: 'attribute_not_exists(pk)' },
});

export const buildMarkerItem = (key: Key, now: EpochMillis) => ({ ...key, ttl: toTtl(now + markerRetentionMs) });

/**
 * Creates the customer, and stores the customer's first payment. Does not change a customer that another purchase has
 * created since; throws `Conflict` if there is another first payment. Writes the words of the name first: if a crash
 * leaves them without the customer, the repeated request completes it.
 */
export async function createCustomer(
  table: Table,
  appName: string,
  username: string,
  { now, first }: { readonly now: EpochMillis; readonly first?: FirstPayer },
): Promise<void> {
  await table.batchPut(keys.buildNameWordItems(appName, username));
  const { createdPk, createdSk, keyPk, keySk } = keys.customerIndexKeys(appName, username, now);
  const assignments = [
    'username = :username',
    'createdAt = if_not_exists(createdAt, :now)',
    'createdPk = if_not_exists(createdPk, :pk)',
    'createdSk = if_not_exists(createdSk, :sk)',
    'keyPk = :keyPk',
    'keySk = :keySk',
    ...(first ? [`${first.name} = :payer`] : []),
  ];
  await table.update({
    Key: { ...keys.customerKey(appName, username) },
    UpdateExpression: `SET ${assignments.join(', ')}`,
    ExpressionAttributeValues: {
      ':username': username,
      ':now': now,
      ':pk': createdPk,
      ':sk': createdSk,
      ':keyPk': keyPk,
      ':keySk': keySk,
      ...(first && { ':payer': first.payer }),
    },
    ...(first && { ConditionExpression: `attribute_not_exists(${first.name})` }),
  });
}
