import { floorToSecond } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import type { ActionBody, PurchaseOrder } from '../purchase-order.ts';
import {
  buildNotificationType,
  getPaidUntil,
  replaceTransaction,
  type Transition,
  type TransitionContext,
  withSubscription,
  withTransaction,
} from './purchase-transition.ts';
import { getLatestTransaction, type Purchase, type SeatTier, type Transaction } from './records.ts';

/** Returns the price tiers of the ordered seats. Default: all seats at the price of the product. */
export function buildSeatTiers(
  { seats, seatTiers, trial, intro, type, productId }: PurchaseOrder,
  priceMicros: number,
): readonly SeatTier[] | undefined {
  if (seats === undefined && seatTiers === undefined) return undefined;
  if (type !== 'paid subscription') throw controlError(422, `seats: ${productId} is not a subscription.`);
  if (trial || intro) throw controlError(422, 'seats: offers of multiseat purchases are not emulated.');
  const tiers = seatTiers ?? [{ priceMicros, quantity: seats ?? 1 }];
  if (seats !== undefined && countSeats(tiers) !== seats)
    throw controlError(400, `seatTiers: expected ${seats} seats in total.`);
  return tiers;
}

/** Returns the number of seats in the tiers. */
export const countSeats = (tiers: readonly SeatTier[]): number =>
  tiers.reduce((sum, { quantity }) => sum + quantity, 0);

const sumTiers = (tiers: readonly SeatTier[]): number =>
  tiers.reduce((sum, { priceMicros, quantity }) => sum + priceMicros * quantity, 0);

/** Returns the members of a transaction that pays for seats. Its price is the average of a seat. */
export const buildSeatMembers = (
  tiers: readonly SeatTier[],
): Pick<Transaction, 'seats' | 'quantity' | 'priceMicros'> => ({
  seats: { tiers },
  quantity: countSeats(tiers),
  priceMicros: sumTiers(tiers) / countSeats(tiers),
});

/** Returns the payment of a transaction in micros. */
export const getAmountMicros = ({ seats, priceMicros, quantity }: Transaction): number =>
  seats ? sumTiers(seats.tiers) : priceMicros * quantity;

/** Returns the seats of a transaction that are not refunded. */
const countValidSeats = ({ quantity, seats, revocation }: Transaction): number =>
  revocation === undefined ? quantity - (seats?.revoked ?? 0) : 0;

/**
 * Lists the transactions of the current period. A seat addition makes another one that does not replace the others.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/additionaltransactionreason
 */
export function listPeriodTransactions(purchase: Purchase): Transaction[] {
  const latest = getLatestTransaction(purchase);
  if (!latest.sharesPeriod) return [latest];
  return purchase.transactions.filter(
    ({ sharesPeriod, expiresDate }) => sharesPeriod && expiresDate === latest.expiresDate,
  );
}

/** Returns the seats of the current period. */
export const countCurrentSeats = (purchase: Purchase): number =>
  listPeriodTransactions(purchase).reduce((sum, transaction) => sum + countValidSeats(transaction), 0);

/** Buys further seats for the rest of the period. Default: at the price of the product. */
export function addSeats(
  purchase: Purchase,
  context: TransitionContext,
  { quantity, priceMicros }: ActionBody,
): Transition {
  const { state, renewal, seatTiers } = requireSeats(purchase);
  requirePossible(state === 'ACTIVE', purchase, `is ${state}: seats can be added to an active subscription`);
  if (quantity === undefined) throw controlError(400, 'quantity: add-seats requires the number of seats.');
  const tier = { priceMicros: priceMicros ?? renewal.priceMicros, quantity };
  const latest = getLatestTransaction(purchase);
  let { transactions } = purchase;
  for (const transaction of listPeriodTransactions(purchase))
    transactions = replaceTransaction(transactions, { ...transaction, sharesPeriod: true, changedAt: context.at });
  const addition: Transaction = {
    transactionId: context.nextId(),
    webOrderLineItemId: context.nextId(),
    productId: latest.productId,
    currency: latest.currency,
    purchaseDate: floorToSecond(context.at),
    expiresDate: getPaidUntil(purchase),
    reason: 'PURCHASE',
    ...buildSeatMembers([tier]),
    sharesPeriod: true,
    changedAt: context.at,
  };
  return {
    purchase: withSubscription(withTransaction({ ...purchase, transactions }, addition), {
      seatTiers: [...seatTiers, tier],
    }),
    notifications: [buildNotificationType('DID_CHANGE_RENEWAL_PREF', 'INCREASE_QUANTITY')],
  };
}

/**
 * Refunds some seats of the current period, the latest bought first. The transactions stay valid for the other seats.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/revokedseatquantity
 */
export function refundSeats(purchase: Purchase, { at }: TransitionContext, { quantity }: ActionBody): Transition {
  requireSeats(purchase);
  if (quantity === undefined) throw controlError(400, 'quantity: refund-seats requires the number of seats.');
  requirePossible(
    quantity < countCurrentSeats(purchase),
    purchase,
    'has not more seats than these: refund returns them all',
  );
  let remaining = quantity;
  let { transactions } = purchase;
  const notifications = [];
  for (const transaction of listPeriodTransactions(purchase).reverse()) {
    const count = Math.min(remaining, countValidSeats(transaction));
    if (count === 0) continue;
    remaining -= count;
    transactions = replaceTransaction(transactions, revokeSeats(transaction, count, at));
    notifications.push({ ...buildNotificationType('REFUND', 'SEATS'), transactionId: transaction.transactionId });
  }
  return { purchase: { ...purchase, transactions }, notifications };
}

/** `revocationDate` appears only when every seat of the transaction is revoked. */
function revokeSeats(transaction: Transaction, count: number, at: number): Transaction {
  const { tiers, revoked = 0 } = transaction.seats ?? { tiers: [] };
  const changed = { ...transaction, seats: { tiers, revoked: revoked + count }, changedAt: at };
  return revoked + count < transaction.quantity
    ? changed
    : { ...changed, revocation: { date: at, reason: 0, type: 'REFUND_FULL', percentage: 100_000 } };
}

function requireSeats(purchase: Purchase) {
  const { seatTiers, ...subscription } = requireSubscription(purchase);
  requirePossible(seatTiers !== undefined, purchase, 'is not a multiseat purchase');
  return { ...subscription, seatTiers };
}
