import { type ErrorCode, ServiceError } from '../../foundation/errors.ts';
import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import { dayMs, type EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import { hasUnspecificReason } from '../../purchases/purchase.ts';
import type { PartialRefund, Transaction } from '../../purchases/transaction.ts';
import { pickSharedFields } from '../pick-shared-fields.ts';
import { unavailableError } from './api-errors.ts';
import type { StoredData } from './known-purchases.ts';
import { listVoidedOrders, voidedRetentionMs } from './list-voided-orders.ts';
import { toPartialRefundId } from './order-refunds.ts';
import type { NotificationPayload } from './parse-notification.ts';
import { toOrderTransaction, withStoredPlan } from './past-orders.ts';
import type { Order } from './payloads.ts';
import type { PlayApi } from './play-api.ts';
import { toVoidReason, type VoidCause, withEndDate } from './revocation.ts';

/** A notification of a voided order, with the purchases and the API client to apply it. */
export interface VoidedOrderContext {
  readonly payload: NotificationPayload;
  /** The current purchases of the token. */
  readonly own: readonly Observation[];
  readonly voidedAt: EpochMillis;
  readonly play: PlayApi;
  readonly now: EpochMillis;
  readonly storedData: StoredData;
}

/** The list may give a voided purchase an earlier time than its notification. */
const voidedListSkewMs = dayMs;

/**
 * Marks the transaction of a voided order as refunded, in whole or in part, in the current or a past period. Google
 * Play can keep the order from the service account: the stored transaction is then marked. Throws `ConnectionFailed` if
 * Google Play is unavailable or does not list a partial refund yet.
 */
export async function applyVoidedOrder(context: VoidedOrderContext): Promise<readonly Observation[]> {
  const { own, payload } = context;
  const { voidedOrderId: orderId, isPartial } = payload;
  if (orderId === undefined || own.length === 0) return own;
  const found = await findTransactions(orderId, context);
  if (isPartial) return await applyPartialRefund(found[0], orderId, context);
  // The order of several items states which of them was refunded, if it was not all of them.
  const isStated = found.length > 1 && found.some(({ transaction }) => hasRefund(transaction));
  const refunded = found.reduce<readonly Observation[]>((observations, { observation, transaction }) => {
    const marked = isStated || isFree(transaction) ? transaction : { refundedAt: context.voidedAt, ...transaction };
    return withTransaction(observations, { observation, transaction: marked });
  }, own);
  const isLatest = found.some(
    ({ observation, transaction }) => observation.purchase.transactionId === transaction.transactionId,
  );
  return isLatest ? await endPurchase(refunded, context) : refunded;
}

/** The transaction of a voided order and the purchase to which it belongs. */
interface FoundTransaction {
  readonly observation: Observation;
  readonly transaction: Transaction;
}

/** Google Play voids the order of a trial to end access, and returns no money. */
const isFree = ({ amountMicros }: Transaction): boolean => amountMicros === 0;

const hasRefund = ({ refundedAt, partialRefunds }: Transaction): boolean =>
  (refundedAt ?? partialRefunds) !== undefined;

/**
 * Finds the transactions of an order, one for each item that it paid for: in the current purchases, in the order, among
 * the stored ones. Otherwise builds one without amount.
 */
async function findTransactions(
  orderId: string,
  context: VoidedOrderContext,
): Promise<readonly [FoundTransaction, ...FoundTransaction[]]> {
  const { own, play, storedData, voidedAt } = context;
  const transactionId = withPlatform(platformTokens.googlePlay, orderId);
  const isOfOrder = (transaction: Transaction): boolean => transaction.transactionId === transactionId;
  const current = findIn(own, (observation) =>
    observation.hasInferredTransactions ? undefined : observation.transactions.find(isOfOrder),
  );
  if (isNonEmpty(current)) return current;
  const order = await tryFetchOrder(play, orderId);
  const past = order
    ? findIn(own, (observation) => toOrderTransaction(order, { orderId, observation, siblings: own }))
    : [];
  const listStored = async ({ purchase }: Observation) =>
    (await storedData.listTransactions?.(purchase.purchaseId)) ?? [];
  const kept: FoundTransaction[] = [];
  for (const { observation, transaction } of past)
    kept.push({ observation, transaction: withStoredPlan(transaction, await listStored(observation)) });
  if (isNonEmpty(kept)) return kept;
  const stored: FoundTransaction[] = [];
  for (const observation of own) {
    const transactions = await listStored(observation);
    const transaction = [...transactions, ...observation.transactions].find(isOfOrder);
    if (transaction) stored.push({ observation, transaction });
  }
  if (isNonEmpty(stored)) return stored;
  const [observation] = own as readonly [Observation, ...Observation[]];
  const { purchase } = observation;
  const purchaseDate = purchase.purchaseDate ?? voidedAt;
  return [{ observation, transaction: { ...pickSharedFields(purchase), transactionId, purchaseDate } }];
}

const isNonEmpty = <T>(items: readonly T[]): items is readonly [T, ...T[]] => items.length > 0;

const findIn = (
  own: readonly Observation[],
  find: (observation: Observation) => Transaction | undefined,
): FoundTransaction[] =>
  own.flatMap((observation) => {
    const transaction = find(observation);
    return transaction ? [{ observation, transaction }] : [];
  });

/** Returns undefined if Google Play does not have the order, or the service account is not permitted to read it. */
const tryFetchOrder = async (play: PlayApi, orderId: string): Promise<Order | undefined> =>
  await play.fetchOrder(orderId).catch((error: unknown) => {
    if (error instanceof ServiceError && error.code !== ('ConnectionFailed' satisfies ErrorCode)) return undefined;
    throw error;
  });

/**
 * Replaces a transaction. Leaves out inferred ones: they would make the refund less current than the stored state.
 */
function withTransaction(
  own: readonly Observation[],
  { observation: target, transaction }: FoundTransaction,
): Observation[] {
  return own.map((observation) => {
    if (observation.purchase.purchaseId !== target.purchase.purchaseId) return observation;
    const { hasInferredTransactions, ...rest } = observation;
    const others = observation.transactions.filter(({ transactionId }) => transactionId !== transaction.transactionId);
    return { ...rest, transactions: hasInferredTransactions ? [transaction] : [...others, transaction] };
  });
}

/** Adds the partial refunds of the list if the order does not have them. */
async function applyPartialRefund(
  found: FoundTransaction,
  orderId: string,
  context: VoidedOrderContext,
): Promise<readonly Observation[]> {
  const { own, payload, play, now } = context;
  const { observation, transaction } = found;
  const isFromOrder = !observation.hasInferredTransactions && hasRefund(transaction);
  if (isFromOrder) return withTransaction(own, found);
  const since = now - voidedRetentionMs;
  const listed = (await listVoidedOrders(play, since))
    .filter((voided) => voided.purchaseToken === payload.token && voided.orderId === orderId)
    .sort((a, b) => a.voidedTimeMillis - b.voidedTimeMillis)
    .flatMap(({ voidedTimeMillis: date, voidedQuantity: quantity }) =>
      quantity === undefined ? [] : { date, quantity },
    );
  if (listed.length === 0) throw unavailableError('the partial refund is not listed');
  const earlierCount = (transaction.partialRefunds ?? []).filter(({ date }) => date < since).length;
  const partialRefunds = listed.map(
    (refund, index): PartialRefund => ({ id: toPartialRefundId(earlierCount + index), ...refund }),
  );
  return withTransaction(own, { observation, transaction: { ...transaction, partialRefunds } });
}

/** Ends the purchase of a refunded latest order if it is not active, with the reason of the voided order. */
async function endPurchase(own: readonly Observation[], context: VoidedOrderContext): Promise<Observation[]> {
  const { payload, voidedAt, now } = context;
  const transactionId = withPlatform(platformTokens.googlePlay, payload.voidedOrderId ?? '');
  const ended = own.map((observation) =>
    observation.purchase.transactionId === transactionId ? withEndDate(observation, voidedAt, now) : observation,
  );
  if (!ended.some(({ purchase }) => purchase.endedAt !== undefined && hasUnspecificReason(purchase))) return ended;
  const voidReason = toVoidReason(payload.voidedReason === undefined ? await findVoidCause(context) : payload);
  if (voidReason === undefined) return ended;
  return ended.map((observation) => ({
    ...observation,
    transactions: observation.transactions.map((transaction) =>
      transaction.transactionId === transactionId ? { ...transaction, voidReason } : transaction,
    ),
  }));
}

/**
 * Reads the reason from the list of voided purchases, because a push lacks it. Returns undefined if it is unavailable.
 */
async function findVoidCause({ payload, voidedAt, play }: VoidedOrderContext): Promise<VoidCause | undefined> {
  const { token, voidedOrderId } = payload;
  const listed = await listVoidedOrders(play, voidedAt - voidedListSkewMs).catch(() => []);
  return listed.find(({ purchaseToken, orderId }) => purchaseToken === token && orderId === voidedOrderId);
}
