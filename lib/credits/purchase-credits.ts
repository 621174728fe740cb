import * as v from 'valibot';
import { addBillingPeriods, BillingPeriod } from '../foundation/billing-period.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { isSubscription } from '../purchases/purchase.ts';
import type { StoredPurchase } from '../purchases/purchase-change.ts';
import type { Transaction } from '../purchases/transaction.ts';
import { LotParts } from './credit-account.ts';

/** What one payment has given of one credit, and what was taken back of it. */
const SettledLot = v.object({
  /** Units that the payment gave, by the catalogue at its time. */
  given: v.number(),
  /** Units that the present owner received. Fewer than given if an earlier owner had spent some. */
  owned: v.number(),
  expiresAt: v.exactOptional(v.number()),
  /** Units that its refunds demand back. */
  demanded: v.number(),
  /** The lots from which they were taken. */
  taken: LotParts,
});
export type SettledLot = v.InferOutput<typeof SettledLot>;

/** What the payments of a purchase have given: each payment gives once. */
export const PurchaseCredits = v.object({
  purchaseId: v.string(),
  isSandbox: v.boolean(),
  /** The customer whose account has the lots. Absent after the customer was erased. */
  owner: v.exactOptional(v.string()),
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
 * A pending payment and a trial give nothing.
 */
export function listCreditClaims({ state: { purchase, transactions } }: StoredPurchase): CreditClaim[] {
  const isPeriodic = isSubscription(purchase);
  // The store has revoked a product that is sold once, without a refund.
  const isRevoked = purchase.endedAt !== undefined && !isPeriodic;
  const payments = transactions.map(({ transaction }) => transaction).filter(isPaid);
  return payments
    .filter((payment) => !isPeriodic || startsPeriod(payment, payments))
    .flatMap((payment) => {
      const { credits = {}, transactionId, saleId: paymentId = transactionId, purchaseDate, quantity = 1 } = payment;
      return Object.entries(credits).map(([credit, { perUnit, expires }]): CreditClaim => {
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
    });
}

const isPaid = ({ isPending, isTrialPeriod }: Transaction): boolean => isPending !== true && isTrialPeriod !== true;

/** Whether a payment is the first of its period. Added seats are paid for the rest of a period, and a fee for none. */
const startsPeriod = ({ transactionId, productId, expirationDate }: Transaction, payments: readonly Transaction[]) =>
  expirationDate !== undefined &&
  payments.find((other) => other.productId === productId && other.expirationDate === expirationDate)?.transactionId ===
    transactionId;

function findEnd({ purchaseDate, expirationDate }: Transaction, expires: string): EpochMillis | undefined {
  if (expires === 'period') return expirationDate;
  return v.is(BillingPeriod, expires) ? addBillingPeriods(purchaseDate, expires) : undefined;
}

/** Counts the units that the refunds and open disputes of a payment demand back, rounded down. */
function countReturned(
  { refundedAt, partialRefunds = [], amountMicros = 0, quantity = 1 }: Transaction,
  given: number,
): number {
  if (refundedAt !== undefined) return given;
  const refunds = partialRefunds.filter(({ status }) => status !== 'returned');
  const units = sum(refunds.map((refund) => (refund.quantity ?? 0) * (given / quantity)));
  const micros = sum(refunds.map((refund) => (refund.quantity === undefined ? (refund.amountMicros ?? 0) : 0)));
  return units + (amountMicros > 0 ? Math.floor((given * micros) / amountMicros) : 0);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
