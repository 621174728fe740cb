import type { Observation } from '../../purchases/observation.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { NotificationPayload } from './parse-notification.ts';
import { findOrderItem, toPastTransaction } from './past-orders.ts';
import type { PlayApi } from './play-api.ts';
import { lacksCancelationReason, withCancelationReason, withEndDate } from './revocation.ts';

interface VoidedOrderContext {
  readonly content: NotificationPayload;
  /** The purchases of the token, as Google has them now. */
  readonly own: readonly Observation[];
  /** When the money was given back. */
  readonly at: EpochMillis;
  readonly asking: { readonly play: PlayApi; readonly now: EpochMillis };
}

/** The list of voided purchases may date one somewhat before Google tells of it. */
const voidedListSkewMs = 86_400_000;

/**
 * The purchases with the order that was given back, of whichever period it is. A part of an order leaves the rest as it
 * is. Throws `ConnectionFailed` when an order that is needed cannot be read now.
 */
export async function applyVoidedOrder(refunding: VoidedOrderContext): Promise<readonly Observation[]> {
  const { content, own } = refunding;
  const { voidedOrderId: orderId, isPartial } = content;
  if (orderId === undefined || isPartial || own.length === 0) return own;
  const id = withPlatform('store_b', orderId);
  const isShown = own.some(({ transactions }) => transactions.some(({ transactionId }) => transactionId === id));
  return isShown ? await applyCurrentRefund(refunding, id) : await applyPastRefund(refunding, orderId);
}

/** The order that the purchase runs on. */
async function applyCurrentRefund(
  { content, own, at, asking: context }: VoidedOrderContext,
  id: string,
): Promise<Observation[]> {
  const refunded = own.map((observation) => {
    const transactions = observation.transactions.map((transaction) =>
      transaction.transactionId === id ? { refundedAt: at, ...transaction } : transaction,
    );
    const isItsOrder = observation.purchase.transactionId === id;
    return isItsOrder
      ? withEndDate({ ...observation, transactions }, at, context.now)
      : { ...observation, transactions };
  });
  if (!refunded.some(lacksCancelationReason)) return refunded;
  const voidedReason = content.voidedReason ?? (await findVoidedReason(content, at, context.play));
  return refunded.map((observation) => withCancelationReason(observation, voidedReason));
}

/** A push does not say why; the list does. A detail that nothing fails without. */
async function findVoidedReason(
  { token, voidedOrderId }: NotificationPayload,
  at: EpochMillis,
  play: PlayApi,
): Promise<number | undefined> {
  const listed = await play.listVoidedPurchases(at - voidedListSkewMs).catch(() => undefined);
  return listed?.voidedPurchases.find(
    ({ purchaseToken, orderId }) => purchaseToken === token && orderId === voidedOrderId,
  )?.voidedReason;
}

/** The order of a period that is past: the purchase does not run on it. */
async function applyPastRefund(
  { own, at, asking: context }: VoidedOrderContext,
  orderId: string,
): Promise<Observation[]> {
  const order = await context.play.fetchOrder(orderId);
  if (!order) return [...own];
  const refundedAt = order.state === 'REFUNDED' ? (order.lastEventTime ?? at) : at;
  return own.map((observation) => {
    const item = findOrderItem(order, observation);
    if (item === 'of another') return observation;
    const transaction = toPastTransaction(observation, { orderId, order, item, refundedAt });
    return { ...observation, transactions: [...observation.transactions, transaction] };
  });
}
