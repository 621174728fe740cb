import { ServiceError } from '../../foundation/errors.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { parse } from '../../foundation/parse.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Clawback as StoredClawback, Transaction } from '../../purchases/transaction.ts';
import type { ObservedNotification, StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { Clawback } from './clawback-event.ts';
import { findPayment } from './find-clawback-subject.ts';
import { isRevokedState, toNotificationReason } from './notification-reason.ts';
import { refresh } from './refresh.ts';
import { getClawbacks } from './stored-facts.ts';

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
  const refetched = await tryRefetch(purchase, context);
  const observation = refetched?.observation ?? toStoredObservation(purchase, context.now());
  const storedTransactions = (await context.listTransactions?.(clawback.purchaseId)) ?? [];
  const storedIds = new Set(storedTransactions.map(({ transactionId }) => transactionId));
  const newTransactions = observation.transactions.filter(({ transactionId }) => !storedIds.has(transactionId));
  const payment = findPayment([...storedTransactions, ...newTransactions], clawback);
  if (!payment) return { reason, observations: [observation] };
  const isPayment = ({ transactionId }: Transaction): boolean => transactionId === payment.transactionId;
  const endsAccess = isRevokedState(clawback.state) || (refetched !== undefined && !refetched.observation);
  const facts = toFacts(payment, clawback, { id: key, endsAccess });
  const clawedBack = { ...(observation.transactions.find(isPayment) ?? payment), ...facts };
  const otherTransactions = observation.transactions.filter((transaction) => !isPayment(transaction));
  return { reason, observations: [{ ...observation, transactions: [...otherTransactions, clawedBack] }] };
}

/** The response of the store. Without an observation, the store no longer lists the purchase. */
interface Refetched {
  readonly observation?: Observation | undefined;
}

/** Returns undefined if a new StoreID key is needed. */
async function tryRefetch({ purchaseId }: Purchase, context: StoreContext): Promise<Refetched | undefined> {
  const token = await context.findRefreshToken?.(purchaseId);
  if (!token) return undefined;
  try {
    const observations = await refresh(token, context);
    return { observation: observations.find(({ purchase }) => purchase.purchaseId === purchaseId) };
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NeedMoreData') return undefined;
    throw error;
  }
}

/** The event describes a payment. Every state that the store has reported is more current than the stored one. */
const toStoredObservation = (purchase: Purchase, asOf: EpochMillis): Observation => ({
  asOf,
  isInferred: true,
  purchase,
  transactions: [],
  userAliases: [],
});

/**
 * Returns what the event adds to the payment. The merge keeps it. A refund keeps access while the store lists the item.
 * @see https://github.com/microsoft/Microsoft-Store-Services
 */
function toFacts(
  payment: Transaction,
  { state, eventDate: date, partialRefund, isChargeback }: Clawback,
  { id, endsAccess }: { readonly id: string; readonly endsAccess: boolean },
): Partial<Transaction> {
  const withEvent = (event: Omit<StoredClawback, 'date'>) => ({
    clawbacks: { ...getClawbacks(payment), [id]: { date, ...event } },
  });
  // The customer's bank reversed its chargeback: payment and access are as before.
  if (state === 'ChargebackReversal') return withEvent({ isReversal: true });
  if (toNotificationReason(state) !== 'REFUNDED') return {};
  const end = omitUndefined({ endsAccess: endsAccess || undefined, isChargeback });
  if (!partialRefund) return { ...withEvent(end), refundedAt: date };
  const { amountMicros } = payment;
  const { part } = partialRefund;
  const isKnown = part !== undefined && amountMicros !== undefined;
  const refund = { id, date, ...(isKnown && { amountMicros: Math.round(amountMicros * part) }) };
  return { ...withEvent({ ...end, isPartial: true }), partialRefunds: [refund] };
}
