import { sum } from '../../foundation/collections.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { PartialRefund } from '../../purchases/transaction.ts';
import { splitPartialRefunds } from '../split-partial-refunds.ts';
import { indexCountries } from './buyer-country.ts';
import { toMicros, toMillis } from './money.ts';
import type { Charge, CreditNote, Dispute, PaymentRecord, Refund } from './payloads.ts';
import { type FailureDates, indexFailures } from './payment-failures.ts';

/** Return of a payment to the customer that ends the access. */
export interface PaymentReversal {
  readonly at: EpochMillis;
  readonly kind: 'refund' | 'dispute';
}

/** The money of one payment, or of all payments of an invoice, that was returned to the customer. */
export interface PaymentReversals {
  /** Full refund, or a lost dispute about all that was not refunded. Ends the purchase. */
  readonly end?: PaymentReversal;
  /** When the whole payment, or the rest of it, was returned. */
  readonly refundedAt?: EpochMillis;
  /** The full refund has the date of the query, because Stripe does not report one. */
  readonly refundSeenAt?: EpochMillis;
  /** Refunds of parts of the payment, and disputes. They do not end the purchase. */
  readonly partialRefunds: readonly PartialRefund[];
}

/** The reversals of a charge. */
export interface ChargeReversals extends PaymentReversals {
  /** All reversals as partial ones, for a payment that paid a part of an invoice. */
  readonly parts: readonly PartialRefund[];
  /** Amount of the charge in the currency's smallest unit. */
  readonly amount: number;
}

/**
 * Returns the reversals of a charge. The refund that completes a full refund is not a partial refund. Stripe lists the
 * newest refund first, and the order decides between refunds of the same second. A lost dispute about a part of the
 * charge is like a partial refund. A dispute after a full refund returns nothing more of the payment.
 */
function toChargeReversals(charge: Charge, disputes: readonly Dispute[]): ChargeReversals {
  const refunds = [...charge.refunds.data].reverse().sort((a, b) => a.created - b.created);
  const chargeDisputes = disputes.filter((dispute) => dispute.charge === charge.id);
  const { end, completing } = findEnd(charge, refunds, chargeDisputes);
  const ownDisputes = chargeDisputes.filter(
    (dispute) => end?.kind !== 'refund' || getDisputeDate(dispute, charge) <= end.at,
  );
  const toParts = (parts: readonly Refund[], isWhole: boolean) => [
    ...parts.map((refund) => toPartialRefund(refund, charge)),
    ...ownDisputes.flatMap((dispute) => toDisputedAmounts(dispute, charge, isWhole)),
  ];
  const partial = refunds.filter((refund) => refund !== completing && isCounted(refund));
  return {
    ...(end && { end, refundedAt: end.at }),
    partialRefunds: toParts(partial, end?.kind === 'dispute'),
    parts: toParts(completing ? [...partial, completing] : partial, false),
    amount: charge.amount,
  };
}

interface Completion {
  readonly end?: PaymentReversal;
  /** The refund that is the end. Undefined if Stripe does not list it. */
  readonly completing?: Refund;
}

/** Finds the refund or the lost dispute with which all of a charge was returned. */
function findEnd(charge: Charge, refunds: readonly Refund[], disputes: readonly Dispute[]): Completion {
  if (charge.refunded && !lacksRefunds(charge, refunds)) {
    const last = refunds.findLast((refund) => !isReturned(refund));
    return toRefundEnd(last, charge);
  }
  const lost = disputes.filter(isLost);
  const paidBack = refunds.filter(({ status }) => status === 'succeeded');
  const amounts = [...lost.map((dispute) => getLostAmount(dispute, charge)), ...paidBack.map(({ amount }) => amount)];
  if (lost.length === 0 || sum(amounts) < charge.amount) return {};
  const lostAt = Math.max(...lost.map((dispute) => getDisputeDate(dispute, charge)));
  const last = paidBack.at(-1);
  return last && toMillis(last.created) > lostAt ? toRefundEnd(last, charge) : { end: { at: lostAt, kind: 'dispute' } };
}

const toRefundEnd = (refund: Refund | undefined, { created }: Charge): Completion => ({
  end: { at: toMillis(refund?.created ?? created ?? 0), kind: 'refund' },
  ...(refund && { completing: refund }),
});

/**
 * Returns when the amount was withdrawn: an inquiry can become a dispute later.
 * @see https://docs.stripe.com/api/disputes/object#dispute_object-status
 */
const getDisputeDate = (dispute: Dispute, { created }: Charge): EpochMillis =>
  toMillis(findWithdrawal(dispute)?.created ?? dispute.created ?? created ?? 0);

const findWithdrawal = ({ balance_transactions: balances }: Dispute) => balances.find(({ amount }) => amount < 0);

/** An appeal follows a lost dispute. @see https://docs.stripe.com/api/disputes/object#dispute_object-status */
const lostStatuses: ReadonlySet<string> = new Set(['lost', 'appeal_needs_response', 'appeal_under_review']);

/**
 * A dispute that is prevented was blocked, or resolved: the customer got the money back, and no dispute was raised.
 *
 * @see https://docs.stripe.com/changelog/basil/2025-08-27/add-preventions-to-dispute
 * @see https://www.checkout.com/docs/payments/process-disputes/pre-dispute-resolution
 */
const isLost = ({ status, balance_transactions: balances }: Dispute): boolean =>
  lostStatuses.has(status) || (status === 'prevented' && sum(balances.map(({ amount }) => amount)) < 0);

/** Some refunds failed, and the others do not return the whole payment. The charge can stay marked as refunded. */
const lacksRefunds = ({ amount }: Charge, refunds: readonly Refund[]): boolean => {
  const kept = refunds.filter((refund) => !isReturned(refund));
  return kept.length < refunds.length && sum(kept.map((refund) => refund.amount)) < amount;
};

/** The money of the refund came back to the account. */
const isReturned = ({ status }: Refund): boolean => status === 'failed' || status === 'canceled';

/** The refund was paid, or had been paid before it failed. */
const isCounted = (refund: Refund): boolean => refund.status === 'succeeded' || isReturned(refund);

const toPartialRefund = (refund: Refund, { currency }: Charge): PartialRefund => ({
  id: refund.id,
  date: toMillis(refund.created),
  amountMicros: toMicros(refund.amount, currency),
  ...(isReturned(refund) && { status: 'returned' }),
});

/** An amount in another currency than the charge cannot be compared: the whole charge is disputed. */
const getDisputedAmount = ({ amount, currency }: Dispute, charge: Charge): number =>
  amount === null || (currency !== null && currency !== charge.currency) ? charge.amount : amount;

/**
 * Returns the part of a lost dispute that Stripe did not return. A dispute that is won in part is `lost`.
 *
 * @see https://support.stripe.com/questions/dispute-for-full-charge-amount-after-a-partial-refund-was-issued
 */
function getLostAmount(dispute: Dispute, charge: Charge): number {
  const amounts = dispute.balance_transactions.map(({ amount }) => amount);
  const withdrawn = -sum(amounts.filter((amount) => amount < 0));
  const kept = -sum(amounts);
  const disputed = getDisputedAmount(dispute, charge);
  return withdrawn > 0 ? Math.round((disputed * Math.max(0, kept)) / withdrawn) : disputed;
}

/**
 * Maps a dispute to the amount that it withdrew, and to the lost part of it. Stripe withdraws the amount when the
 * dispute is opened and returns it when it is won; an inquiry withdraws nothing. The amounts of the balance
 * transactions are in the currency of the account, so only their signs, dates and proportions apply.
 *
 * @see https://docs.stripe.com/api/disputes/object#dispute_object-balance_transactions
 */
function toDisputedAmounts(dispute: Dispute, charge: Charge, isWholeDispute: boolean): PartialRefund[] {
  const { id, status, balance_transactions: balances } = dispute;
  if (!findWithdrawal(dispute) && (!isLost(dispute) || isWholeDispute)) return [];
  const toPart = (amount: number) => ({
    id,
    date: getDisputeDate(dispute, charge),
    amountMicros: toMicros(amount, charge.currency),
  });
  const disputed = toPart(getDisputedAmount(dispute, charge));
  if (isLost(dispute) && isWholeDispute) return [{ ...disputed, status: 'disputed' }];
  const isBack = status === 'won' || balances.some(({ amount }) => amount > 0);
  if (!isBack) return [isLost(dispute) ? disputed : { ...disputed, status: 'disputed' }];
  const lostAmount = isLost(dispute) ? getLostAmount(dispute, charge) : 0;
  return [
    { ...disputed, status: 'returned' },
    ...(lostAmount > 0 ? [{ ...toPart(lostAmount), id: `${id}:lost` }] : []),
  ];
}

/** Returns the fields of a transaction that describe its refunds. */
export const toRefundFields = ({ refundedAt, refundSeenAt, partialRefunds }: Partial<PaymentReversals> = {}) => ({
  ...omitUndefined({ refundedAt, refundSeenAt }),
  ...(partialRefunds && partialRefunds.length > 0 && { partialRefunds }),
});

/**
 * Splits the reversals of a payment among its parts, which have these amounts in the currency's smallest unit.
 */
export function splitReversals(
  reversals: PaymentReversals,
  amounts: readonly number[],
  currency: string,
): PaymentReversals[] {
  if (amounts.length === 1) return [reversals];
  const unit = toMicros(1, currency);
  const parts = splitPartialRefunds(
    reversals.partialRefunds,
    amounts.map((amount) => amount * unit),
    unit,
  );
  return parts.map((partialRefunds) => ({ ...reversals, partialRefunds }));
}

/** What the charges of an account say about payments, by charge id and payment intent id. */
export interface ChargeIndex {
  readonly reversals: ReadonlyMap<string, ChargeReversals>;
  /** Countries of the customers, in two letters. */
  readonly countries: ReadonlyMap<string, string>;
  readonly failures: ReadonlyMap<string, FailureDates>;
  readonly creditNotes: readonly CreditNote[];
  readonly paymentRecords: readonly PaymentRecord[];
}

interface IndexedObjects {
  readonly disputes?: readonly Dispute[];
  readonly creditNotes?: readonly CreditNote[];
  readonly paymentRecords?: readonly PaymentRecord[];
  /** Dates of debits that failed days after their creation, by charge id. */
  readonly failureDates?: ReadonlyMap<string, number>;
}

/** Indexes charges with their disputes and the credit notes of their invoices. */
export const indexCharges = (
  charges: readonly Charge[],
  { disputes = [], creditNotes = [], paymentRecords = [], failureDates = new Map() }: IndexedObjects = {},
): ChargeIndex => ({
  reversals: indexReversals(charges, disputes),
  countries: indexCountries(charges),
  failures: indexFailures(charges, failureDates),
  creditNotes,
  paymentRecords,
});

/** Indexes reversals by charge id and payment intent id, because an invoice can name either. */
function indexReversals(
  charges: readonly Charge[],
  disputes: readonly Dispute[],
): ReadonlyMap<string, ChargeReversals> {
  const index = new Map<string, ChargeReversals>();
  for (const charge of charges.filter(({ paid }) => paid)) {
    const reversals = toChargeReversals(charge, disputes);
    for (const id of [charge.id, charge.payment_intent]) if (id) index.set(id, reversals);
  }
  return index;
}
