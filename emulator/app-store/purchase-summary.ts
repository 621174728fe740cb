import { formatTime } from '../calendar.ts';
import type { PurchaseSummary } from '../emulated-store.ts';
import { getProduct } from '../product.ts';
import { sum } from '../sum.ts';
import { sumItemRefunds } from './items.ts';
import { getOwnershipType } from './payloads.ts';
import { getLatestTransaction, type Purchase, type Transaction } from './records.ts';
import { countCurrentSeats, getAmountMicros } from './seats.ts';
import { getAccount, type StoreState } from './store-state.ts';

/** Converts a purchase for responses of the control API. */
export function toPurchaseSummary(state: StoreState, purchase: Purchase): PurchaseSummary {
  const { environment, applicationUsername, appTransactionId } = getAccount(state, purchase);
  const lines = purchase.transactions.map((transaction) => toLine(purchase, transaction));
  const { productId, transactionId, expiresDate, revocation } = getLatestTransaction(purchase);
  const { subscription, sharedFrom } = purchase;
  return {
    id: purchase.id,
    productId,
    type: getProduct(state, productId).type,
    // A one-time purchase continues after the refund of a part.
    state: subscription?.state ?? (revocation && revocation.type !== 'REFUND_PRORATED' ? 'REVOKED' : 'PURCHASED'),
    sandbox: environment === 'Sandbox',
    ...(applicationUsername !== undefined && { applicationUsername }),
    ...(sharedFrom !== undefined && { sharedFrom, ownershipType: getOwnershipType(purchase) }),
    ...(subscription?.seatTiers && { seats: countCurrentSeats(purchase) }),
    ...(subscription?.commitment && {
      commitment: { ...subscription.commitment, expiresDate: formatTime(subscription.commitment.expiresDate) },
    }),
    appTransactionId,
    lines,
    paidMicros: sum(lines.map(({ amountMicros }) => amountMicros)),
    refundedMicros: sum(lines.map(({ refundedMicros }) => refundedMicros)),
    transactionId,
    transactions: purchase.transactions.length,
    ...(expiresDate !== undefined && { expiresDate: formatTime(expiresDate) }),
    ...(subscription?.graceUntil !== undefined && {
      gracePeriodExpiresDate: formatTime(subscription.graceUntil),
    }),
    ...(subscription && { autoRenewStatus: subscription.willRenew ? 1 : 0, renewsAs: subscription.renewal.productId }),
  };
}

/** Returns what was paid and returned for a transaction. A share costs nothing. */
function toLine({ sharedFrom }: Purchase, transaction: Transaction) {
  const { transactionId, productId, quantity, currency, purchaseDate, expiresDate, restores, revocation } = transaction;
  const isPaid = sharedFrom === undefined;
  return {
    transactionId,
    ...(restores && { restoredAs: restores.map((copy) => copy.transactionId) }),
    productId,
    quantity,
    currency,
    purchaseDate: formatTime(purchaseDate),
    ...(expiresDate !== undefined && { expiresDate: formatTime(expiresDate) }),
    amountMicros: isPaid ? getAmountMicros(transaction) : 0,
    refundedMicros: isPaid ? computeRefund(transaction) : 0,
    ...(revocation && { revokedAt: formatTime(revocation.date) }),
  };
}

/**
 * The App Store does not report the price of refunded seats: the average of the transaction counts. A revocation
 * without a type is the refund of an own purchase.
 * @see https://developer.apple.com/documentation/appstoreserverapi/revocationdate
 */
function computeRefund(transaction: Transaction): number {
  const { revocation, seats, quantity, items } = transaction;
  if (items) return sumItemRefunds(items);
  const isRefund = revocation && (revocation.type === undefined || revocation.type.startsWith('REFUND_'));
  const amountMicros = getAmountMicros(transaction);
  const bySeats = Math.round((amountMicros * (seats?.revoked ?? 0)) / quantity);
  const share = isRefund ? (revocation.percentage ?? 100_000) / 100_000 : 0;
  return Math.min(amountMicros, Math.max(bySeats, Math.round(amountMicros * share)));
}
