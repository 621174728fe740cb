import { sum } from '../../foundation/collections.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { PartialRefund } from '../../purchases/transaction.ts';
import { toMicros } from './money.ts';
import type { BraintreeTransaction, Dispute } from './payloads.ts';

/**
 * Statuses in which a payment counts as paid. It counts from the authorization on, because settlement is automatic.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/general/statuses
 */
const paidStatuses = new Set([
  'authorized',
  'authorizing',
  'submitted_for_settlement',
  'settling',
  'settled',
  'settlement_confirmed',
]);

export const isPaid = ({ status, type }: BraintreeTransaction): boolean => type === 'sale' && paidStatuses.has(status);

/** The bank of the customer has not confirmed the payment yet. */
export const isSettlementPending = ({ status, type }: BraintreeTransaction): boolean =>
  type === 'sale' && status === 'settlement_pending';

/** False if Braintree does not report the history. */
export const hasPaidStatus = ({ statusHistory }: BraintreeTransaction): boolean =>
  statusHistory.some(({ status }) => paidStatuses.has(status));

/** A payment that ended unpaid can have counted as paid before. A voided or declined one without a history did. */
const wasPaid = (payment: BraintreeTransaction): boolean =>
  hasPaidStatus(payment) || [payment, ...payment.statusHistory].every(({ status }) => endedStatuses.has(status));

/** Statuses in which a refund counts. */
const refundStatuses = new Set([...paidStatuses, 'settlement_pending']);

/**
 * Statuses of a payment or refund that failed, even after it counted. The money of the refund came back.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/general/statuses
 */
const failedStatuses = new Set([
  'authorization_expired',
  'failed',
  'gateway_rejected',
  'processor_declined',
  'settlement_declined',
  'voided',
]);

export const hasFailed = ({ status, type }: BraintreeTransaction): boolean =>
  type === 'sale' && failedStatuses.has(status);

const endedStatuses = new Set(['voided', 'settlement_declined']);

/** Dispute statuses in which the customer has the money back. */
const lostStatuses = new Set(['lost', 'accepted', 'auto_accepted', 'expired']);

/** Dispute statuses in which Braintree holds the disputed amount. */
const openStatuses = new Set(['open', 'disputed', 'under_review']);

/** The money of a payment that was returned to the customer. */
export interface PaymentReversals {
  /** When the whole payment, or the rest of it, was reversed. */
  readonly refundedAt?: EpochMillis;
  /** The earlier returns of parts of the payment. */
  readonly partialRefunds?: readonly PartialRefund[];
}

/** A return of money. `date` is when it became final, or when an open dispute debited it. */
interface Reversal extends PartialRefund {
  /** When Braintree debited the amount of a dispute. */
  readonly debitedAt?: EpochMillis;
}

/**
 * Finds the reversals of a payment: a void, refunds and lost disputes. A void, a declined settlement, an expired
 * authorization or another failure counts as a reversal if the payment counted as paid until then, but not if it was
 * pending. The refund that completes a full
 * refund is not a partial refund.
 */
export function findReversals(
  payment: BraintreeTransaction,
  refunds: readonly BraintreeTransaction[],
): PaymentReversals {
  if (!refundStatuses.has(payment.status)) return wasPaid(payment) ? { refundedAt: getStatusDate(payment) } : {};
  const reversals = listReversals(payment, refunds);
  const completing = findCompletingReversal(payment, reversals);
  const partialRefunds = reversals.flatMap((reversal) => toPartialRefund(reversal, completing));
  return {
    ...(completing && { refundedAt: completing.date }),
    ...(partialRefunds.length > 0 && { partialRefunds }),
  };
}

/**
 * The debit of a dispute keeps its date and its amount when the dispute is lost, so that its money does not depend on
 * when it was seen. `refundedAt` is the date of the loss. A debit after a full refund returns nothing more of the
 * payment.
 *
 * @see https://articles.braintreepayments.com/risk-and-security/chargebacks-retrievals/disputing-chargebacks
 */
function toPartialRefund({ debitedAt, ...reversal }: Reversal, completing: Reversal | undefined): PartialRefund[] {
  const date = debitedAt ?? reversal.date;
  if (reversal.id !== completing?.id) return date > (completing?.date ?? date) ? [] : [{ ...reversal, date }];
  return debitedAt === undefined ? [] : [{ ...reversal, date, status: 'disputed' }];
}

/** A lost dispute reversed the payment, or its rest after refunds. */
export function isReversedByDispute(payment: BraintreeTransaction, refunds: readonly BraintreeTransaction[]): boolean {
  const completing = findCompletingReversal(payment, listReversals(payment, refunds));
  const reversals = payment.disputes.flatMap((dispute) => toDisputeReversals(dispute, payment));
  return completing !== undefined && reversals.some(({ id }) => id === completing.id);
}

const listReversals = (payment: BraintreeTransaction, refunds: readonly BraintreeTransaction[]): Reversal[] =>
  [
    ...listRefunds(payment, refunds),
    ...payment.disputes.flatMap((dispute) => toDisputeReversals(dispute, payment)),
  ].sort((a, b) => a.date - b.date);

/** Finds the reversal with which the whole payment is reversed. A dispute that is not resolved is not final. */
function findCompletingReversal(
  { amount }: BraintreeTransaction,
  reversals: readonly Reversal[],
): Reversal | undefined {
  const final = reversals.filter(({ status }) => status === undefined);
  const sumUntil = (index: number): number =>
    sum(final.slice(0, index + 1).map(({ amountMicros = 0 }) => amountMicros));
  return final.find((_reversal, index) => sumUntil(index) >= toMicros(amount));
}

/** Returns when a payment or a subscription got its status. */
export const getStatusDate = ({
  status,
  statusHistory,
  createdAt,
  updatedAt = createdAt,
}: Pick<BraintreeTransaction, 'status' | 'statusHistory' | 'createdAt' | 'updatedAt'>): EpochMillis =>
  Date.parse(statusHistory.find((entry) => entry.status === status)?.timestamp ?? updatedAt);

/** Lists the refunds in the order of Braintree, which decides between refunds of the same second. */
const listRefunds = ({ refundIds }: BraintreeTransaction, refunds: readonly BraintreeTransaction[]): PartialRefund[] =>
  refundIds
    .flatMap((refundId) => refunds.filter(({ id }) => id === refundId))
    .filter(({ status }) => refundStatuses.has(status) || failedStatuses.has(status))
    .map(({ id, amount, createdAt, status }) => ({
      id,
      amountMicros: toMicros(amount),
      date: Date.parse(createdAt),
      ...(failedStatuses.has(status) && { status: 'returned' }),
    }));

/**
 * Maps a dispute to the amount that Braintree debits when it is opened and holds until it is resolved. A dispute can be
 * won in part. A retrieval is a request for information, which debits nothing.
 *
 * @see https://developer.paypal.com/braintree/graphql/reference/types/dispute
 */
function toDisputeReversals(dispute: Dispute, payment: BraintreeTransaction): Reversal[] {
  const { id = 'dispute', kind, status, statusHistory, createdAt, receivedDate } = dispute;
  if (kind === 'retrieval') return [];
  const { updatedAt = payment.createdAt } = payment;
  const common = { id, amountMicros: toDisputedMicros(dispute, payment) };
  const debitedAt = Date.parse(createdAt ?? receivedDate ?? updatedAt);
  if (lostStatuses.has(status)) {
    const lostAt = statusHistory.find((entry) => entry.status === status)?.timestamp ?? dispute.updatedAt;
    return [{ ...common, date: lostAt === undefined ? debitedAt : Date.parse(lostAt), debitedAt }];
  }
  if (openStatuses.has(status)) return [{ ...common, date: debitedAt, status: 'disputed' }];
  if (status !== 'won') return [];
  const lostMicros = Math.round(common.amountMicros * getLostShare(dispute));
  const lostPart = { id: `${id}:lost`, amountMicros: lostMicros, date: debitedAt };
  return [{ ...common, date: debitedAt, status: 'returned' }, ...(lostMicros > 0 ? [lostPart] : [])];
}

/** An amount in another currency than the payment cannot be compared: the whole payment is disputed. */
const toDisputedMicros = (
  { amountDisputed, currencyIsoCode }: Dispute,
  { amount, currencyIsoCode: currency = currencyIsoCode }: BraintreeTransaction,
): number =>
  toMicros(currencyIsoCode === undefined || currencyIsoCode === currency ? (amountDisputed ?? amount) : amount);

/** Returns the share of a won dispute that the merchant lost: 0 if Braintree does not report what was won. */
function getLostShare({ amountDisputed, amountWon }: Dispute): number {
  const [disputed, won] = [Number(amountDisputed ?? 0), Number(amountWon ?? 0)];
  return won > 0 && won < disputed ? 1 - won / disputed : 0;
}
