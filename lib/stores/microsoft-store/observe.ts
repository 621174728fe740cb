import { ServiceError } from '../../foundation/errors.ts';
import { parse } from '../../foundation/parse.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import { isReversed } from '../../purchases/refunds.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import type { ObservedNotification, StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { Clawback } from './clawback-event.ts';
import { findPayment } from './find-clawback-subject.ts';
import { withKnownRefunds } from './known-refunds.ts';
import { isRevokedState, toNotificationReason } from './notification-reason.ts';
import { refreshFromStore } from './refresh.ts';

/**
 * Applies a clawback event to the current state of its purchase. Queries the store if a StoreID key is still valid,
 * otherwise uses the stored state. Only the event reports the refund.
 */
export async function observe(
  { key, payload }: StoreNotification,
  context: StoreContext,
): Promise<ObservedNotification> {
  const clawback = parse(Clawback, payload, 'InternalError');
  const reason = toNotificationReason(clawback.state);
  const purchase = await context.findPurchase?.(clawback.purchaseId);
  if (!purchase) return { reason, observations: [] };
  const refetched = await tryRefetch(purchase, clawback, context);
  const observation = refetched?.observation ?? toStoredObservation(purchase, clawback, context.now());
  const storedTransactions = (await context.listTransactions?.(clawback.purchaseId)) ?? [];
  const storedIds = new Set(storedTransactions.map(({ transactionId }) => transactionId));
  const newTransactions = observation.transactions.filter(({ transactionId }) => !storedIds.has(transactionId));
  const payment = findPayment([...storedTransactions, ...newTransactions], clawback);
  if (!payment) return { reason, observations: [observation] };
  const isLost = isRevokedState(clawback.state) || (clawback.state === 'Refunded' && isRemoved(refetched));
  const isEnded = isLost && !isReversed({ ...payment, refundedAt: clawback.eventDate });
  const refunded = applyRefund(payment, clawback, key);
  return { reason, observations: [applyClawback(observation, { clawback, payment: refunded, isEnded })] };
}

/** The response of the store. Without an observation, the store no longer lists the purchase. */
interface Refetched {
  readonly observation?: Observation;
}

/**
 * The store does not list the item of a refunded payment any longer, or its balance is 0. A refund without removal
 * keeps access.
 * @see https://github.com/microsoft/Microsoft-Store-Services
 */
const isRemoved = (refetched: Refetched | undefined): boolean =>
  refetched !== undefined &&
  (refetched.observation === undefined || refetched.observation.purchase.isConsumed === true);

/** Returns undefined if a new StoreID key is needed. */
async function tryRefetch(
  { purchaseId }: Purchase,
  clawback: Clawback,
  context: StoreContext,
): Promise<Refetched | undefined> {
  const token = await context.findRefreshToken?.(purchaseId);
  if (!token) return undefined;
  try {
    const listed = await refreshFromStore(token, context);
    // A reversed chargeback cancels the stored refund, so it must not be added.
    const observations = isChargebackReversal(clawback) ? listed : await withKnownRefunds(listed, context);
    const observation = observations.find(({ purchase }) => purchase.purchaseId === purchaseId);
    return observation ? { observation } : {};
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NeedMoreData') return undefined;
    throw error;
  }
}

/** Builds an observation from the stored purchase. A reversed chargeback removes its end. */
function toStoredObservation(purchase: Purchase, clawback: Clawback, asOf: EpochMillis): Observation {
  const { endedAt: _endedAt, cancelationReason: _reason, ...restored } = purchase;
  return {
    asOf,
    purchase: isChargebackReversal(clawback) ? restored : purchase,
    transactions: [],
    userAliases: [],
  };
}

function applyClawback(
  observation: Observation,
  { clawback, payment, isEnded }: { clawback: Clawback; payment: Transaction; isEnded: boolean },
): Observation {
  const otherTransactions = observation.transactions.filter(
    ({ transactionId }) => transactionId !== payment.transactionId,
  );
  const isCurrentPayment = observation.purchase.transactionId === payment.transactionId;
  return {
    ...observation,
    purchase: isCurrentPayment && isEnded ? markEnded(observation, clawback) : observation.purchase,
    transactions: [...otherTransactions, payment],
  };
}

function applyRefund(payment: Transaction, clawback: Clawback, eventId: string): Transaction {
  const { state, eventDate, partialRefund } = clawback;
  const { refundedAt: _refundedAt, ...paid } = payment;
  if (isChargebackReversal(clawback)) return { ...paid, refundReversedAt: eventDate };
  if (toNotificationReason(state) !== 'REFUNDED') return payment;
  if (!partialRefund) return isReversed({ ...paid, refundedAt: eventDate }) ? paid : { ...paid, refundedAt: eventDate };
  const { amountMicros, partialRefunds = [] } = payment;
  const { part } = partialRefund;
  const isKnown = part !== undefined && amountMicros !== undefined;
  const refund = { id: eventId, date: eventDate, ...(isKnown && { amountMicros: Math.round(amountMicros * part) }) };
  return { ...payment, partialRefunds: [...partialRefunds.filter(({ id }) => id !== eventId), refund] };
}

/** Ends the purchase before the store does: its state is updated hours later, and never for a consumed item. */
function markEnded({ purchase, asOf }: Observation, { eventDate }: Clawback): Purchase {
  return {
    ...purchase,
    endedAt: purchase.endedAt ?? Math.min(eventDate, asOf),
    cancelationReason: purchase.cancelationReason ?? 'Customer',
    ...(purchase.renewalIntent && { renewalIntent: 'Lapse' }),
  };
}

/** The customer's bank reversed its chargeback: payment and access are as before. */
const isChargebackReversal = ({ state }: Clawback): boolean => state === 'ChargebackReversal';
