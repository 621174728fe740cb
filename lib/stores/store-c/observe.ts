import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { ServiceError } from '../../shared/errors.ts';
import { parse } from '../../shared/parse.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { ObservedNotification, StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { Clawback, isRevokedState, toNotificationReason } from './clawback-event.ts';
import { findPayment } from './find-clawback-purchase.ts';
import { refresh, refreshFromStore } from './refresh.ts';

/**
 * What a clawback did to a purchase: the store is asked for its state where a StoreID key still allows that, and the event
 * tells of the money, which no other service of the store does.
 */
export async function observe({ payload }: StoreNotification, context: StoreContext): Promise<ObservedNotification> {
  const clawback = parse(Clawback, payload, 'InternalError');
  const reason = toNotificationReason(clawback.state);
  const purchase = await context.findPurchase?.(clawback.purchaseId);
  if (!purchase) return { reason, observations: [] };
  const observation =
    (await tryRefetch(purchase, { clawback, asking: context })) ??
    toStoredObservation(purchase, { clawback, asOf: context.now() });
  const kept = (await context.listTransactions?.(clawback.purchaseId)) ?? [];
  const newTransactions = observation.transactions.filter(
    (one) => !kept.some((other) => other.transactionId === one.transactionId),
  );
  const payment = findPayment([...kept, ...newTransactions], clawback);
  return { reason, observations: [payment ? applyClawback(observation, clawback, payment) : observation] };
}

/** Undefined when the store shows the purchase no more, or not without a new key from the customer. */
async function tryRefetch(
  { purchaseId }: Purchase,
  { clawback, asking: context }: { readonly clawback: Clawback; readonly asking: StoreContext },
): Promise<Observation | undefined> {
  const token = await context.findRefreshToken?.(purchaseId);
  if (!token) return undefined;
  try {
    // What is known of a refund ends with its reversal.
    const ask = isChargebackReversal(clawback) ? refreshFromStore : refresh;
    const newTransactions = await ask(token, context);
    return newTransactions.find(({ purchase }) => purchase.purchaseId === purchaseId);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NeedMoreData') return undefined;
    throw error;
  }
}

/** The purchase as the table has it; when a chargeback was reversed, without the end that it had. */
function toStoredObservation(
  purchase: Purchase,
  { clawback, asOf }: { readonly clawback: Clawback; readonly asOf: EpochMillis },
): Observation {
  const { endedAt: _ended, cancelationReason: _why, ...running } = purchase;
  return {
    asOf,
    purchase: isChargebackReversal(clawback) ? running : purchase,
    transactions: [],
    userAliases: [],
  };
}

/** The look with what the event tells of the money. */
function applyClawback(observation: Observation, clawback: Clawback, payment: Transaction): Observation {
  const others = observation.transactions.filter(({ transactionId }) => transactionId !== payment.transactionId);
  const isCurrent = observation.purchase.transactionId === payment.transactionId;
  return {
    ...observation,
    purchase: isCurrent && isRevokedState(clawback.state) ? markEnded(observation, clawback) : observation.purchase,
    transactions: [...others, applyRefund(payment, clawback)],
  };
}

function applyRefund(payment: Transaction, clawback: Clawback): Transaction {
  const { refundedAt: _before, ...paid } = payment;
  if (toNotificationReason(clawback.state) === 'REFUNDED') return { ...paid, refundedAt: clawback.eventDate };
  return isChargebackReversal(clawback) ? paid : payment;
}

/** The store's state follows by hours, and what was used up shows no end at all. */
function markEnded({ purchase, asOf }: Observation, { eventDate }: Clawback): Purchase {
  return {
    ...purchase,
    endedAt: purchase.endedAt ?? Math.min(eventDate, asOf),
    cancelationReason: purchase.cancelationReason ?? 'Customer',
    ...(purchase.renewalIntent && { renewalIntent: 'Lapse' }),
  };
}

/** The bank took its chargeback back: the money, and what was bought, are as before. */
const isChargebackReversal = ({ state }: Clawback): boolean => state === 'ChargebackReversal';
