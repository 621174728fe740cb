import type { Platform } from '../lib/foundation/platform.ts';
import type { PurchaseSummary } from './purchase-summary.ts';
import { sumReturned } from './store-ledger.ts';
import { readPaidPeriod } from './stripe-oracle.ts';

/** A purchase at one time according to the store's own records. */
export interface LedgerState {
  /** Identifies the current paid period. Undefined if the store lacks a payment. */
  readonly period: string | undefined;
  /** A payment started the period. Braintree skips one that a discount or a credit covers. Default: yes. */
  readonly isCharged?: boolean;
  /** Refunds and withdrawn funds of each payment, in micros. */
  readonly returned: readonly number[];
  /** Gives access. Undefined if the store leaves the decision to the developer. */
  readonly isRunning: boolean | undefined;
  readonly productId: string;
  /** Product of the next period. A scheduled plan change is announced at once. */
  readonly nextProductId?: string | undefined;
}

/** The states of a purchase from one complete observation of the service to the next one, both included. */
export interface LedgerInterval {
  /** Undefined in the first interval. */
  readonly before: LedgerState | undefined;
  /** All states after it, also those that no observation has seen. The last one has been observed. */
  readonly states: readonly LedgerState[];
  /** Number of refunds and revocations by an action. A refund of a free period returns no money. */
  readonly reversals: number;
  /** Another purchase has replaced this one. It announces the change. */
  readonly isReplaced: boolean;
  readonly isSuccessor: boolean;
  /** Number of announced refunds of the other items, which are separate purchases. */
  readonly itemRefunds: number;
  /** Number of refunds that the store has reported late: after the end that they caused. */
  readonly owedRefunds: number;
}

/** Reads the state of a purchase from the control API of the emulated store. */
export function readLedgerState(
  platform: Platform,
  summary: PurchaseSummary,
  isRunning: ReadonlyMap<string, boolean | undefined>,
): LedgerState {
  const lines: readonly PurchaseSummary[] = (platform === 'store_b' ? summary.payments : summary.lines) ?? [];
  const returned = lines.map(({ refundedMicros }) => refundedMicros ?? 0);
  return {
    period: periods[platform](summary),
    ...(platform === 'processor_b' && { isCharged: isCharged(summary) }),
    returned: platform === 'store_a' || platform === 'store_b' ? returned : [sumReturned(summary)],
    isRunning: isRunning.get(summary.productId),
    productId: summary.productId,
    nextProductId: summary.renewsAs,
  };
}

/**
 * Braintree sends `subscription_billing_skipped`, and no charge, for a period that the balance covers.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/general/webhooks/subscription/node
 */
const isCharged = ({ paidThroughDate, payments = [] }: PurchaseSummary): boolean =>
  payments.some(({ periodEnd }: PurchaseSummary) => periodEnd === paidThroughDate);

type ReadPeriod = (summary: PurchaseSummary) => string | undefined;

/** Further seats are paid for the current period. */
const readTransaction: ReadPeriod = ({ seats, expiresDate, transactionId }) =>
  seats === undefined ? transactionId : expiresDate;

/** Stripe starts a period before its payment, or without one. */
const readStripePeriod: ReadPeriod = (summary) =>
  summary.type === 'paid subscription' ? readPaidPeriod(summary) : undefined;

const periods: Readonly<Record<Platform, ReadPeriod>> = {
  store_a: readTransaction,
  store_b: ({ lines, latestSuccessfulOrderId }) => lines?.[0]?.latestSuccessfulOrderId ?? latestSuccessfulOrderId,
  store_c: readTransaction,
  processor_a: readStripePeriod,
  service_processor_a: readStripePeriod,
  processor_b: ({ paidThroughDate }) => paidThroughDate,
};

/**
 * Compares the reasons that a customer has received about a purchase in an interval with the store's records. Returns
 * the rules that they break:
 *
 * - `starts`: A purchase is announced as `PURCHASED` once, and never if it continues another one.
 * - `payments`: Later payments are `RENEWED` or `PLAN_CHANGED`, several between two observations once. So is access
 *   that returns, for example after a pause. A period without a payment is not.
 * - `refunds`: Each refund is `REFUNDED` or `REVOKED` once. The Microsoft Store reports the end of a refunded product
 *   before the refund, if its events are late: the end is `REVOKED` then, and the refund `REFUNDED`.
 * - `ends`: An end of access is `EXPIRED` or `PAUSED` unless a refund has caused it, or another purchase replaces this
 *   one. Access that ends and returns between two observations is not announced.
 */
export function findAnnouncementProblems(
  platform: Platform,
  { before, states, reversals, isReplaced, isSuccessor, itemRefunds, owedRefunds }: LedgerInterval,
  reasons: readonly string[],
): string[] {
  const count = (...selected: readonly string[]): number =>
    reasons.filter((reason) => selected.includes(reason)).length;
  const last = states.at(-1) ?? before;
  if (!last) return [];
  const steps = [before, ...states].filter((state) => state !== undefined);
  const pairs = steps.slice(1).map((state, index) => [steps[index] as LedgerState, state] as const);
  const countSteps = (isCounted: (a: LedgerState, b: LedgerState) => boolean): number =>
    pairs.filter(([a, b]) => isCounted(a, b)).length;
  const newPeriods = countSteps(
    (a, b) => isPayment(a, b) || a.productId !== b.productId || a.nextProductId !== b.nextProductId,
  );
  const returns = countSteps((a, b) => a.isRunning !== true && b.isRunning !== false);
  const losses = countSteps((a, b) => a.isRunning !== false && b.isRunning !== true);
  const refunds = countRefunds(steps);
  const isRenewed =
    before?.period !== undefined &&
    last.isRunning === true &&
    before.period !== last.period &&
    countSteps(isPayment) > 0 &&
    !isReplaced;
  const isRestored = before?.isRunning === false && before.period !== undefined && last.isRunning === true;
  const isEnded = before?.isRunning === true && last.isRunning === false && !isReplaced;
  const isRefundLate = platform === 'store_c';
  const refundCount = count('REFUNDED', 'REVOKED');
  const rules: readonly (readonly [rule: string, value: number, min: number, max: number])[] = [
    ['starts', count('PURCHASED'), 0, before || isSuccessor ? 0 : 1],
    [
      'payments',
      count('RENEWED', 'PLAN_CHANGED'),
      isRenewed || isRestored ? 1 : 0,
      newPeriods + returns + (before ? 0 : 1),
    ],
    [
      'refunds',
      refundCount,
      before && !isRefundLate ? Math.max(0, refunds - itemRefunds) : 0,
      Math.max(refunds, reversals) + (isRefundLate ? owedRefunds : 0),
    ],
    ['ends', count('EXPIRED', 'PAUSED'), isEnded && refundCount === 0 ? 1 : 0, losses],
  ];
  return rules
    .filter(([, value, min, max]) => value < min || value > max)
    .map(([rule, value, min, max]) => `${rule}: ${value} instead of ${min === max ? min : `${min} to ${max}`}`);
}

const isPayment = (a: LedgerState, b: LedgerState): boolean => a.period !== b.period && b.isCharged !== false;

/** Counts the refunds between consecutive states. */
export const countRefunds = (states: readonly LedgerState[]): number =>
  states.reduce((sum, state, index) => {
    const before = states[index - 1] ?? state;
    return sum + state.returned.filter((micros, payment) => micros > (before.returned[payment] ?? 0)).length;
  }, 0);
