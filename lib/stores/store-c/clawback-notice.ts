import { ServiceError } from '../../errors.ts';
import { parse } from '../../parse.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Millis, Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../transactions/transaction.ts';
import type { Asking, Noticed, StoreMessage } from '../store.ts';
import { Clawback, clawbackReason, isTakenAway } from './clawback-event.ts';
import { paymentIn } from './clawed-back.ts';
import { lookAgain, refresh } from './refresh.ts';

/**
 * What a clawback did to a purchase: the store is asked for its state where a StoreID key still allows that, and the event
 * tells of the money, which no other service of the store does.
 */
export async function noticed({ content }: StoreMessage, asking: Asking): Promise<Noticed> {
  const clawback = parse(Clawback, content, 'InternalError');
  const reason = clawbackReason(clawback.state);
  const purchase = await asking.purchaseOf?.(clawback.purchaseId);
  if (!purchase) return { reason, observations: [] };
  const look = (await shownBy(purchase, { clawback, asking })) ?? keptLook(purchase, { clawback, asOf: asking.now() });
  const kept = (await asking.transactionsOf?.(clawback.purchaseId)) ?? [];
  const seen = look.transactions.filter((one) => !kept.some((other) => other.transactionId === one.transactionId));
  const payment = paymentIn([...kept, ...seen], clawback);
  return { reason, observations: [payment ? told(look, clawback, payment) : look] };
}

/** Undefined when the store shows the purchase no more, or not without a new key from the customer. */
async function shownBy(
  { purchaseId }: Purchase,
  { clawback, asking }: { readonly clawback: Clawback; readonly asking: Asking },
): Promise<Observation | undefined> {
  const token = await asking.refreshTokenOf?.(purchaseId);
  if (!token) return undefined;
  try {
    // What is known of a refund ends with its reversal.
    const ask = isReversal(clawback) ? lookAgain : refresh;
    const seen = await ask(token, asking);
    return seen.find(({ purchase }) => purchase.purchaseId === purchaseId);
  } catch (thrown) {
    if (thrown instanceof ServiceError && thrown.code === 'NeedMoreData') return undefined;
    throw thrown;
  }
}

/** The purchase as the table has it; when a chargeback was reversed, without the end that it had. */
function keptLook(
  purchase: Purchase,
  { clawback, asOf }: { readonly clawback: Clawback; readonly asOf: Millis },
): Observation {
  const { endedAt: _ended, cancelationReason: _why, ...running } = purchase;
  return {
    asOf,
    purchase: isReversal(clawback) ? running : purchase,
    transactions: [],
    userTokens: [],
  };
}

/** The look with what the event tells of the money. */
function told(look: Observation, clawback: Clawback, payment: Transaction): Observation {
  const others = look.transactions.filter(({ transactionId }) => transactionId !== payment.transactionId);
  const isCurrent = look.purchase.transactionId === payment.transactionId;
  return {
    ...look,
    purchase: isCurrent && isTakenAway(clawback.state) ? ended(look, clawback) : look.purchase,
    transactions: [...others, paidBack(payment, clawback)],
  };
}

function paidBack(payment: Transaction, clawback: Clawback): Transaction {
  const { refundedAt: _before, ...paid } = payment;
  if (clawbackReason(clawback.state) === 'REFUNDED') return { ...paid, refundedAt: clawback.eventDate };
  return isReversal(clawback) ? paid : payment;
}

/** The store's state follows by hours, and what was used up shows no end at all. */
function ended({ purchase, asOf }: Observation, { eventDate }: Clawback): Purchase {
  return {
    ...purchase,
    endedAt: purchase.endedAt ?? Math.min(eventDate, asOf),
    cancelationReason: purchase.cancelationReason ?? 'Customer',
    ...(purchase.renewalIntent && { renewalIntent: 'Lapse' }),
  };
}

/** The bank took its chargeback back: the money, and what was bought, are as before. */
const isReversal = ({ state }: Clawback): boolean => state === 'ChargebackReversal';
