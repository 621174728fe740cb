import { buildAnnouncement } from '../purchases/announcement.ts';
import type { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import type { ObservedTransaction } from '../purchases/merge-transactions.ts';
import type { PurchaseChange } from '../purchases/purchase-change.ts';
import * as keys from './keys.ts';
import type { Write } from './table.ts';
import { normalizeAlias } from './user-alias-repository.ts';

/** DynamoDB takes 100 writes in a transaction. */
const maxTransactionWrites = 100;

interface ChangeWriteInput {
  readonly change: PurchaseChange;
  /** Writes that must succeed with the new state. */
  readonly together: readonly Write[];
  /** Of the users who gain the purchase those who are no customers yet. */
  readonly newcomers: readonly string[];
}

/**
 * The transactions that write a change, in order. Nearly always one. What is too much for one, as a long history or many
 * owners are, is written in several: first what shows nothing by itself (payments, links, the claims of a purchase that is
 * not there yet), then the purchase under the condition on its version, and last the links of those who lost it, which show
 * nothing any more. A crash between them is mended by writing the change again.
 */
export function buildChangeTransactions(
  table: string,
  appName: string,
  { change, together: atomicWrites, newcomers: newCustomers }: ChangeWriteInput,
): Write[][] {
  const claims = buildClaimWrites(table, appName, change);
  const buildTransactionWrites = (batch: readonly ObservedTransaction[]) =>
    batch.map((known) => buildTransactionWrite(table, appName, { known, change }));
  const writesBefore = [
    ...buildTransactionWrites(change.changedTransactions.filter((known) => !isNewRefund(known, change))),
    ...buildOwnershipWrites(table, appName, { change, newcomers: newCustomers }),
    ...(change.before ? [] : claims),
  ];
  const state = [
    ...atomicWrites,
    buildPurchaseWrite(table, appName, change),
    ...change.lifecycleReasons.map((reason) => buildNotificationWrite(table, appName, { change, reason })),
    ...buildTransactionWrites(change.changedTransactions.filter((known) => isNewRefund(known, change))),
    ...(change.before ? claims : []),
    ...buildUnclaimedWrites(table, appName, change),
  ];
  const writesAfter = buildOwnershipDeletes(table, appName, change);
  const all = [...writesBefore, ...state, ...writesAfter];
  return all.length <= maxTransactionWrites
    ? [all]
    : [...splitIntoChunks(writesBefore), ...splitIntoChunks(state), ...splitIntoChunks(writesAfter)];
}

function buildPurchaseWrite(table: string, appName: string, change: PurchaseChange): Write {
  const { before, after } = change;
  const { state: known, claims: _claims, nextRefreshAt, ...stored } = after;
  const { transactions: _transactions, ...state } = known;
  const { purchaseId } = known.purchase;
  const key = keys.purchaseKey(appName, purchaseId);
  return {
    Put: {
      TableName: table,
      Item: {
        ...key,
        ...keys.purchaseIndexKeys(appName, purchaseId, after),
        ...(nextRefreshAt !== undefined && keys.dueIndexKeys(key, nextRefreshAt)),
        ...stored,
        ...state,
        // Its announcements follow from this: see lib/notifications/announcement.ts.
        announcedReasons: change.announcedReasons,
      },
      ...(before
        ? { ConditionExpression: 'version = :version', ExpressionAttributeValues: { ':version': before.version } }
        : { ConditionExpression: 'attribute_not_exists(pk)' }),
    },
  };
}

function buildTransactionWrite(
  table: string,
  appName: string,
  { known: { transaction, ...told }, change }: { known: ObservedTransaction; change: PurchaseChange },
): Write {
  const { purchaseId, transactionId } = transaction;
  return {
    Put: {
      TableName: table,
      Item: {
        ...keys.transactionKey(appName, purchaseId, transactionId),
        ...keys.transactionIndexKeys(appName, purchaseId, transaction),
        transaction,
        ...told,
      },
      // Where it is written before the purchase, another writer may have written it meanwhile.
      ...(change.before && buildUnchangedCondition(findPreviousTransaction(change, transactionId))),
    },
  };
}

const findPreviousTransaction = ({ before }: PurchaseChange, id: string): ObservedTransaction | undefined =>
  before?.state.transactions.find(({ transaction }) => transaction.transactionId === id);

const buildUnchangedCondition = (seen: ObservedTransaction | undefined) =>
  seen === undefined
    ? { ConditionExpression: 'attribute_not_exists(pk)' }
    : {
        ConditionExpression: 'asOf = :asOf AND amountAsOf = :amountAsOf',
        ExpressionAttributeValues: { ':asOf': seen.asOf, ':amountAsOf': seen.amountAsOf },
      };

/** Whether the money was given back since: what tells of that is written with the purchase, or it would never be told. */
const isNewRefund = (
  { transaction: { transactionId, refundedAt } }: ObservedTransaction,
  change: PurchaseChange,
): boolean =>
  refundedAt !== undefined && findPreviousTransaction(change, transactionId)?.transaction.refundedAt === undefined;

function buildNotificationWrite(
  table: string,
  appName: string,
  { change, reason }: { change: PurchaseChange; reason: NotificationReason },
): Write {
  const { state, version, updatedAt } = change.after;
  const { purchaseId } = state.purchase;
  const { id, date } = buildAnnouncement({ appName, purchaseId, version, updatedAt }, reason);
  return {
    Put: { TableName: table, Item: { ...keys.notificationKey(appName, purchaseId, date, id), id, date, reason } },
  };
}

/** Longer than a purchase that nobody claims is worth anything. */
const unclaimedRetentionMs = 400 * 24 * 60 * 60 * 1000;

/** A purchase that nobody has claimed waits under the forms in which the store names its user, until somebody does. */
function buildUnclaimedWrites(table: string, appName: string, { before, after }: PurchaseChange): Write[] {
  const aliases = (tokens: readonly string[]) => [...new Set(tokens.map(normalizeAlias))];
  const waitingKey = (alias: string) => keys.unclaimedKey(appName, alias, after.state.purchase.purchaseId);
  const waited = aliases(before?.claims.length === 0 ? before.state.userAliases : []);
  if (after.claims.length > 0) return waited.map((alias) => ({ Delete: { TableName: table, Key: waitingKey(alias) } }));
  const ttl = Math.floor((after.updatedAt + unclaimedRetentionMs) / 1000);
  return aliases(after.state.userAliases)
    .filter((alias) => !waited.includes(alias))
    .map((alias) => ({ Put: { TableName: table, Item: { ...waitingKey(alias), ttl } } }));
}

function buildClaimWrites(
  table: string,
  appName: string,
  { after, newClaims, evictedClaims }: PurchaseChange,
): Write[] {
  const key = ({ username }: { readonly username: string }) =>
    keys.claimKey(appName, after.state.purchase.purchaseId, username);
  return [
    ...newClaims.map((claim) => ({ Put: { TableName: table, Item: { ...key(claim), ...claim } } })),
    ...evictedClaims.map((claim) => ({ Delete: { TableName: table, Key: key(claim) } })),
  ];
}

function buildOwnershipWrites(
  table: string,
  appName: string,
  { change: { after, gainedUsers }, newcomers: newCustomers }: Pick<ChangeWriteInput, 'change' | 'newcomers'>,
): Write[] {
  const { purchaseId } = after.state.purchase;
  return [
    ...gainedUsers.map((username) => ({
      Put: { TableName: table, Item: keys.ownedPurchaseKey(appName, username, purchaseId) },
    })),
    ...newCustomers.map((username) => buildCustomerWrite(table, appName, { username, now: after.updatedAt })),
  ];
}

const buildOwnershipDeletes = (table: string, appName: string, { after, lostUsers }: PurchaseChange): Write[] =>
  lostUsers.map((username) => ({
    Delete: { TableName: table, Key: keys.ownedPurchaseKey(appName, username, after.state.purchase.purchaseId) },
  }));

/** Creates the customer, and leaves one that exists by now as it is. */
function buildCustomerWrite(
  table: string,
  appName: string,
  { username, now }: { username: string; now: number },
): Write {
  const { createdPk, createdSk } = keys.customerIndexKeys(appName, username, now);
  return {
    Update: {
      TableName: table,
      Key: keys.customerKey(appName, username),
      UpdateExpression:
        'SET username = :username, createdAt = if_not_exists(createdAt, :now), createdPk = if_not_exists(createdPk, :pk), createdSk = if_not_exists(createdSk, :sk)',
      ExpressionAttributeValues: { ':username': username, ':now': now, ':pk': createdPk, ':sk': createdSk },
    },
  };
}

const splitIntoChunks = (writes: readonly Write[]): Write[][] =>
  Array.from({ length: Math.ceil(writes.length / maxTransactionWrites) }, (_, index) =>
    writes.slice(index * maxTransactionWrites, (index + 1) * maxTransactionWrites),
  );
