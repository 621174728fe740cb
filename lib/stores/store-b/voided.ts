import type { Observation } from '../../purchases/observation.ts';
import { prefixed } from '../../purchases/platform.ts';
import type { Millis } from '../../purchases/purchase.ts';
import type { Content } from './developer-notification.ts';
import { itemOf, pastTransaction } from './past-orders.ts';
import type { Play } from './play.ts';
import { becauseOf, endedAt, lacksReason } from './taken.ts';

interface Refunding {
  readonly content: Content;
  /** The purchases of the token, as Google has them now. */
  readonly own: readonly Observation[];
  /** When the money was given back. */
  readonly at: Millis;
  readonly asking: { readonly play: Play; readonly now: Millis };
}

/** The list of voided purchases may date one somewhat before Google tells of it. */
const listedBeforeMs = 86_400_000;

/**
 * The purchases with the order that was given back, of whichever period it is. A part of an order leaves the rest as it
 * is. Throws `ConnectionFailed` when an order that is needed cannot be read now.
 */
export async function withRefund(refunding: Refunding): Promise<readonly Observation[]> {
  const { content, own } = refunding;
  const { voidedOrderId: orderId, isPartial } = content;
  if (orderId === undefined || isPartial || own.length === 0) return own;
  const id = prefixed('store_b', orderId);
  const isShown = own.some(({ transactions }) => transactions.some(({ transactionId }) => transactionId === id));
  return isShown ? await withPresentRefund(refunding, id) : await withPastRefund(refunding, orderId);
}

/** The order that the purchase runs on. */
async function withPresentRefund({ content, own, at, asking }: Refunding, id: string): Promise<Observation[]> {
  const refunded = own.map((observation) => {
    const transactions = observation.transactions.map((transaction) =>
      transaction.transactionId === id ? { refundedAt: at, ...transaction } : transaction,
    );
    const isItsOrder = observation.purchase.transactionId === id;
    return isItsOrder ? endedAt({ ...observation, transactions }, at, asking.now) : { ...observation, transactions };
  });
  if (!refunded.some(lacksReason)) return refunded;
  const voidedReason = content.voidedReason ?? (await listedReason(content, at, asking.play));
  return refunded.map((observation) => becauseOf(observation, voidedReason));
}

/** A push does not say why; the list does. A detail that nothing fails without. */
async function listedReason({ token, voidedOrderId }: Content, at: Millis, play: Play): Promise<number | undefined> {
  const listed = await play.voided(at - listedBeforeMs).catch(() => undefined);
  return listed?.voidedPurchases.find(
    ({ purchaseToken, orderId }) => purchaseToken === token && orderId === voidedOrderId,
  )?.voidedReason;
}

/** The order of a period that is past: the purchase does not run on it. */
async function withPastRefund({ own, at, asking }: Refunding, orderId: string): Promise<Observation[]> {
  const order = await asking.play.orderNow(orderId);
  if (!order) return [...own];
  const refundedAt = order.state === 'REFUNDED' ? (order.lastEventTime ?? at) : at;
  return own.map((observation) => {
    const item = itemOf(order, observation);
    if (item === 'of another') return observation;
    const transaction = pastTransaction(observation, { orderId, order, item, refundedAt });
    return { ...observation, transactions: [...observation.transactions, transaction] };
  });
}
