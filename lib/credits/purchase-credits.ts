import * as v from 'valibot';
import { OptionalNumber, OptionalText } from '../api/schemas.ts';
import { addBillingPeriods, BillingPeriod } from '../foundation/billing-period.ts';
import { sum } from '../foundation/collections.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { PurchaseState } from '../purchases/merge.ts';
import { isSubscription } from '../purchases/purchase.ts';
import { isReturned } from '../purchases/refunds.ts';
import type { Transaction } from '../purchases/transaction.ts';
import { LotParts } from './credit-account.ts';

/** What one payment has given of one credit, and what was taken back of it. */
const SettledLot = v.object({
  /** Units that the payment gave, by the catalogue at its time. */
  given: v.number(),
  /**
   * Units that the current owner received, with those that refunds had taken back before. Fewer than given if an
   * earlier owner had spent some.
   */
  owned: v.number(),
  expiresAt: OptionalNumber,
  /** The lot, if the payment had another id when it gave. */
  lotId: OptionalText,
  /** Units that its refunds demand back. */
  demanded: v.number(),
  /** The lots from which they were taken, including the lots of an earlier owner. */
  taken: LotParts,
});
export type SettledLot = v.InferOutput<typeof SettledLot>;

/** What the payments of a purchase have given: each payment gives once. */
export const PurchaseCredits = v.object({
  purchaseId: v.string(),
  isSandbox: v.boolean(),
  /** The customer whose account has the lots. Absent after the customer was erased. */
  owner: OptionalText,
  /** By payment, then by credit. */
  payments: v.record(v.string(), v.record(v.string(), SettledLot)),
  version: v.number(),
});
export type PurchaseCredits = v.InferOutput<typeof PurchaseCredits>;

/** What a payment gives and its refunds demand back, as the stored purchase shows it. */
export interface CreditClaim {
  /** The sale, because a store can list it under several transaction ids. */
  readonly paymentId: string;
  readonly transactionId: string;
  readonly credit: string;
  readonly givenAt: EpochMillis;
  readonly given: number;
  readonly expiresAt: EpochMillis | undefined;
  readonly demanded: number;
}

/**
 * Lists what the payments of a purchase give: a subscription once for each paid period, another product for each unit.
 * A pending payment and a trial give nothing. What a payment has given is demanded back once it pays no period of its
 * own any more: a refunded credit paid it, say.
 */
export function listCreditClaims(
  { purchase, transactions }: Pick<PurchaseState, 'purchase' | 'transactions'>,
  settled: PurchaseCredits['payments'] = {},
): CreditClaim[] {
  const isPeriodic = isSubscription(purchase);
  // The store has revoked a product that is sold once, without a refund: its latest payment, if it was bought again.
  const revokedId = purchase.endedAt !== undefined && !isPeriodic ? purchase.transactionId : undefined;
  const payments = transactions.map(({ transaction }) => ({
    ...transaction,
    paymentId: toPaymentId(transaction, settled),
  }));
  const paid = payments.filter(isPaid);
  const giving = isPeriodic ? paid.filter((payment) => givesPeriod(payment, paid, settled)) : paid;
  return payments.flatMap((payment) =>
    giving.includes(payment)
      ? listGiven(payment, { isPeriodic, isRevoked: payment.transactionId === revokedId })
      : listLost(payment, settled[payment.paymentId]),
  );
}

type Payment = Transaction & Pick<CreditClaim, 'paymentId'>;

/** A store can report the id of a sale later than its transaction: a payment keeps the id with which it has given. */
const toPaymentId = ({ transactionId, saleId }: Transaction, settled: PurchaseCredits['payments']): string =>
  saleId === undefined || Object.hasOwn(settled, transactionId) ? transactionId : saleId;

const isPaid = ({ isPending, isTrialPeriod }: Transaction): boolean => isPending !== true && isTrialPeriod !== true;

/**
 * The payment that has given for its period, or else the first. Added seats are paid for the rest of a period, and a
 * fee for none.
 */
function givesPeriod(payment: Payment, paid: readonly Payment[], settled: PurchaseCredits['payments']): boolean {
  if (payment.expirationDate === undefined) return false;
  const ofPeriod = paid.filter(
    ({ productId, expirationDate }) => productId === payment.productId && expirationDate === payment.expirationDate,
  );
  return payment === (ofPeriod.find(({ paymentId }) => Object.hasOwn(settled, paymentId)) ?? ofPeriod[0]);
}

function listGiven(
  payment: Payment,
  { isPeriodic, isRevoked }: { readonly isPeriodic: boolean; readonly isRevoked: boolean },
): CreditClaim[] {
  const { credits = {}, transactionId, paymentId, purchaseDate, quantity = 1 } = payment;
  return Object.entries(credits).map(([credit, { perUnit, expires }]) => {
    const given = perUnit * (isPeriodic ? 1 : quantity);
    return {
      paymentId,
      transactionId,
      credit,
      givenAt: purchaseDate,
      given,
      expiresAt: findEnd(payment, expires),
      demanded: isRevoked ? given : Math.min(given, countReturned(payment, given)),
    };
  });
}

const listLost = (
  { transactionId, paymentId, purchaseDate }: Payment,
  lots: PurchaseCredits['payments'][string] = {},
): CreditClaim[] =>
  Object.entries(lots).map(([credit, { given, expiresAt }]) => ({
    paymentId,
    transactionId,
    credit,
    givenAt: purchaseDate,
    given,
    expiresAt,
    demanded: given,
  }));

function findEnd({ purchaseDate, expirationDate }: Transaction, expires: string): EpochMillis | undefined {
  if (expires === 'period') return expirationDate;
  return v.is(BillingPeriod, expires) ? addBillingPeriods(purchaseDate, expires) : undefined;
}

/** Stores round the refund of a unit of a quantity, to a cent or a thousandth of a percent. */
const unitTolerance = 0.02;

/**
 * Counts the units that the refunds and open disputes of a payment demand back, rounded down. A refund of whole units
 * of the quantity demands theirs.
 */
function countReturned(
  { refundedAt, partialRefunds = [], amountMicros = 0, quantity = 1 }: Transaction,
  given: number,
): number {
  if (refundedAt !== undefined) return given;
  const refunds = partialRefunds.filter((refund) => !isReturned(refund));
  const units = sum(refunds.map((refund) => refund.quantity ?? 0));
  const micros = sum(refunds.map((refund) => (refund.quantity === undefined ? (refund.amountMicros ?? 0) : 0)));
  const byUnits = Math.floor((given * units) / quantity);
  if (amountMicros <= 0) return byUnits;
  const refunded = (micros * quantity) / amountMicros;
  const whole = Math.round(refunded);
  const isWhole = quantity > 1 && Math.abs(refunded - whole) < unitTolerance;
  return byUnits + Math.floor(isWhole ? (given * whole) / quantity : (given * micros) / amountMicros);
}
