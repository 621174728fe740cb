import { announcement } from '../notifications/announcement.ts';
import type { NotificationReason } from '../notifications/reasons.ts';
import type { Change } from '../purchases/change.ts';
import type { KnownTransaction } from '../purchases/known-transactions.ts';
import { canonicalAlias } from './aliases.ts';
import * as keys from './keys.ts';
import type { Write } from './table.ts';

/** DynamoDB takes 100 writes in a transaction. */
const largestTransaction = 100;

interface Writing {
  readonly change: Change;
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
export function changeWrites(table: string, app: string, { change, together, newcomers }: Writing): Write[][] {
  const claims = claimWrites(table, app, change);
  const payments = (some: readonly KnownTransaction[]) =>
    some.map((known) => transactionWrite(table, app, { known, change }));
  const early = [
    ...payments(change.transactions.filter((known) => !isNewRefund(known, change))),
    ...linkWrites(table, app, { change, newcomers }),
    ...(change.before ? [] : claims),
  ];
  const state = [
    ...together,
    purchaseWrite(table, app, change),
    ...change.reasons.map((reason) => notificationWrite(table, app, { change, reason })),
    ...payments(change.transactions.filter((known) => isNewRefund(known, change))),
    ...(change.before ? claims : []),
    ...waitingWrites(table, app, change),
  ];
  const late = unlinkWrites(table, app, change);
  const all = [...early, ...state, ...late];
  return all.length <= largestTransaction ? [all] : [...batches(early), ...batches(state), ...batches(late)];
}

function purchaseWrite(table: string, app: string, change: Change): Write {
  const { before, after } = change;
  const { known, claims: _claims, dueAt, ...stored } = after;
  const { transactions: _transactions, ...state } = known;
  const { purchaseId } = known.purchase;
  const key = keys.purchaseKey(app, purchaseId);
  return {
    Put: {
      TableName: table,
      Item: {
        ...key,
        ...keys.purchaseIndexKeys(app, purchaseId, after),
        ...(dueAt !== undefined && keys.dueIndexKeys(key, dueAt)),
        ...stored,
        ...state,
        // Its announcements follow from this: see lib/notifications/announcement.ts.
        news: change.news,
      },
      ...(before
        ? { ConditionExpression: 'version = :version', ExpressionAttributeValues: { ':version': before.version } }
        : { ConditionExpression: 'attribute_not_exists(pk)' }),
    },
  };
}

function transactionWrite(
  table: string,
  app: string,
  { known: { transaction, ...told }, change }: { known: KnownTransaction; change: Change },
): Write {
  const { purchaseId, transactionId } = transaction;
  return {
    Put: {
      TableName: table,
      Item: {
        ...keys.transactionKey(app, purchaseId, transactionId),
        ...keys.transactionIndexKeys(app, purchaseId, transaction),
        transaction,
        ...told,
      },
      // Where it is written before the purchase, another writer may have written it meanwhile.
      ...(change.before && asItWasRead(knownBefore(change, transactionId))),
    },
  };
}

const knownBefore = ({ before }: Change, id: string): KnownTransaction | undefined =>
  before?.known.transactions.find(({ transaction }) => transaction.transactionId === id);

const asItWasRead = (seen: KnownTransaction | undefined) =>
  seen === undefined
    ? { ConditionExpression: 'attribute_not_exists(pk)' }
    : {
        ConditionExpression: 'asOf = :asOf AND amountAsOf = :amountAsOf',
        ExpressionAttributeValues: { ':asOf': seen.asOf, ':amountAsOf': seen.amountAsOf },
      };

/** Whether the money was given back since: what tells of that is written with the purchase, or it would never be told. */
const isNewRefund = ({ transaction: { transactionId, refundedAt } }: KnownTransaction, change: Change): boolean =>
  refundedAt !== undefined && knownBefore(change, transactionId)?.transaction.refundedAt === undefined;

function notificationWrite(
  table: string,
  app: string,
  { change, reason }: { change: Change; reason: NotificationReason },
): Write {
  const { known, version, updatedAt } = change.after;
  const { purchaseId } = known.purchase;
  const { id, date } = announcement({ app, purchaseId, version, updatedAt }, reason);
  return { Put: { TableName: table, Item: { ...keys.notificationKey(app, purchaseId, date, id), id, date, reason } } };
}

/** Longer than a purchase that nobody claims is worth anything. */
const waitsMs = 400 * 24 * 60 * 60 * 1000;

/** A purchase that nobody has claimed waits under the forms in which the store names its user, until somebody does. */
function waitingWrites(table: string, app: string, { before, after }: Change): Write[] {
  const aliases = (tokens: readonly string[]) => [...new Set(tokens.map(canonicalAlias))];
  const waitingKey = (alias: string) => keys.waitingKey(app, alias, after.known.purchase.purchaseId);
  const waited = aliases(before?.claims.length === 0 ? before.known.userTokens : []);
  if (after.claims.length > 0) return waited.map((alias) => ({ Delete: { TableName: table, Key: waitingKey(alias) } }));
  const ttl = Math.floor((after.updatedAt + waitsMs) / 1000);
  return aliases(after.known.userTokens)
    .filter((alias) => !waited.includes(alias))
    .map((alias) => ({ Put: { TableName: table, Item: { ...waitingKey(alias), ttl } } }));
}

function claimWrites(table: string, app: string, { after, claims, forgotten }: Change): Write[] {
  const key = ({ username }: { readonly username: string }) =>
    keys.claimKey(app, after.known.purchase.purchaseId, username);
  return [
    ...claims.map((claim) => ({ Put: { TableName: table, Item: { ...key(claim), ...claim } } })),
    ...forgotten.map((claim) => ({ Delete: { TableName: table, Key: key(claim) } })),
  ];
}

function linkWrites(
  table: string,
  app: string,
  { change: { after, gained }, newcomers }: Pick<Writing, 'change' | 'newcomers'>,
): Write[] {
  const { purchaseId } = after.known.purchase;
  return [
    ...gained.map((username) => ({ Put: { TableName: table, Item: keys.linkKey(app, username, purchaseId) } })),
    ...newcomers.map((username) => customerWrite(table, app, { username, now: after.updatedAt })),
  ];
}

const unlinkWrites = (table: string, app: string, { after, lost }: Change): Write[] =>
  lost.map((username) => ({
    Delete: { TableName: table, Key: keys.linkKey(app, username, after.known.purchase.purchaseId) },
  }));

/** Creates the customer, and leaves one that exists by now as it is. */
function customerWrite(table: string, app: string, { username, now }: { username: string; now: number }): Write {
  const { createdPk, createdSk } = keys.customerIndexKeys(app, username, now);
  return {
    Update: {
      TableName: table,
      Key: keys.customerKey(app, username),
      UpdateExpression:
        'SET username = :username, createdAt = if_not_exists(createdAt, :now), createdPk = if_not_exists(createdPk, :pk), createdSk = if_not_exists(createdSk, :sk)',
      ExpressionAttributeValues: { ':username': username, ':now': now, ':pk': createdPk, ':sk': createdSk },
    },
  };
}

const batches = (writes: readonly Write[]): Write[][] =>
  Array.from({ length: Math.ceil(writes.length / largestTransaction) }, (_, index) =>
    writes.slice(index * largestTransaction, (index + 1) * largestTransaction),
  );
