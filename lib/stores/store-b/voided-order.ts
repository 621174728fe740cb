import type { Observation } from '../../purchases/observation.ts';
import { withPlatform } from '../../shared/platform.ts';
import { dayMs, type EpochMillis } from '../../shared/time.ts';
import type { NotificationPayload } from './parse-notification.ts';
import { findOrderItem, toPastTransaction } from './past-orders.ts';
import type { PlayApi } from './play-api.ts';
import { lacksCancelationReason, withCancelationReason, withEndDate } from './revocation.ts';

/** A notification of a voided order, with the purchases and the API client to apply it. */
export interface VoidedOrderContext {
  readonly payload: NotificationPayload;
  /** The current purchases of the token. */
  readonly own: readonly Observation[];
  readonly voidedAt: EpochMillis;
  readonly play: PlayApi;
  readonly now: EpochMillis;
}

/** The list may give a voided purchase an earlier time than its notification. */
const voidedListSkewMs = dayMs;

/**
 * Marks the transaction of a voided order as refunded, in the current or a past period. A partial refund changes nothing.
 * Throws `ConnectionFailed` if the order of a past period is unavailable.
 */
export async function applyVoidedOrder(context: VoidedOrderContext): Promise<readonly Observation[]> {
  const { payload, own } = context;
  const { voidedOrderId: orderId, isPartial } = payload;
  if (orderId === undefined || isPartial || own.length === 0) return own;
  const id = withPlatform('store_b', orderId);
  const isIncluded = own.some(({ transactions }) => transactions.some(({ transactionId }) => transactionId === id));
  return isIncluded ? await applyCurrentRefund(context, id) : await applyPastRefund(context, orderId);
}

async function applyCurrentRefund(context: VoidedOrderContext, transactionId: string): Promise<Observation[]> {
  const { own, voidedAt, now } = context;
  const refunded = own.map((observation) => {
    const transactions = observation.transactions.map((transaction) =>
      transaction.transactionId === transactionId ? { refundedAt: voidedAt, ...transaction } : transaction,
    );
    const isLatest = observation.purchase.transactionId === transactionId;
    return isLatest ? withEndDate({ ...observation, transactions }, voidedAt, now) : { ...observation, transactions };
  });
  if (!refunded.some(lacksCancelationReason)) return refunded;
  const voidedReason = context.payload.voidedReason ?? (await findVoidedReason(context));
  return refunded.map((observation) => withCancelationReason(observation, voidedReason));
}

/** Reads the reason from the list of voided purchases, because a push lacks it. Returns undefined if it is unavailable. */
async function findVoidedReason({ payload, voidedAt, play }: VoidedOrderContext): Promise<number | undefined> {
  const { token, voidedOrderId } = payload;
  const page = await play.listVoidedPurchases(voidedAt - voidedListSkewMs).catch(() => undefined);
  return page?.voidedPurchases.find(
    ({ purchaseToken, orderId }) => purchaseToken === token && orderId === voidedOrderId,
  )?.voidedReason;
}

async function applyPastRefund({ own, voidedAt, play }: VoidedOrderContext, orderId: string): Promise<Observation[]> {
  const order = await play.fetchOrder(orderId);
  if (!order) return [...own];
  const refundedAt = order.state === 'REFUNDED' ? (order.lastEventTime ?? voidedAt) : voidedAt;
  return own.map((observation) => {
    const item = findOrderItem(order, observation);
    if (item === 'otherPurchase') return observation;
    const transaction = toPastTransaction(observation, { orderId, order, item, refundedAt });
    return { ...observation, transactions: [...observation.transactions, transaction] };
  });
}
