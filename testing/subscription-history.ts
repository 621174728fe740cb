import type { EncryptedObservation } from '../lib/purchases/merge.ts';
import type { Purchase } from '../lib/purchases/purchase.ts';
import type { Transaction } from '../lib/purchases/transaction.ts';
import { createObservation, createTransaction, dayMs, startDate } from './given.ts';

export const historyActions = [
  'renew',
  'cancel',
  'uncancel',
  'grace',
  'hold',
  'pause',
  'share',
  'refund',
  'refund of the first',
  'upgrade',
  'ask',
] as const;
export type HistoryAction = (typeof historyActions)[number];

/** What a store would let us observe of one subscription that lives through the actions, a look after each of them. */
export function buildObservations(actions: readonly HistoryAction[]): EncryptedObservation[] {
  const first = createObservation();
  const observations = [first];
  let purchase = first.purchase;
  let transactions: Transaction[] = [...first.transactions];
  actions.forEach((action, index) => {
    const at = startDate + (index + 1) * dayMs;
    ({ purchase, transactions } = applyAction(purchase, transactions, { action, at, index }));
    observations.push({ asOf: at, purchase, transactions, userAliases: index % 3 === 0 ? ['token'] : [] });
  });
  return observations;
}

function applyAction(
  purchase: Purchase,
  transactions: Transaction[],
  { action, at, index }: { action: HistoryAction; at: number; index: number },
): { purchase: Purchase; transactions: Transaction[] } {
  const changed = (fields: Partial<Purchase>) => ({ purchase: { ...purchase, ...fields }, transactions });
  if (action === 'cancel') return changed({ renewalIntent: 'Lapse', renewalIntentChangeDate: at });
  if (action === 'uncancel') return changed({ renewalIntent: 'Renew', renewalIntentChangeDate: at });
  if (action === 'grace') return changed({ isBillingRetryPeriod: true, expirationDate: at + 16 * dayMs });
  if (action === 'hold') return changed({ isBillingRetryPeriod: true, expirationDate: at - 1000 });
  if (action === 'pause')
    return changed({ isPaused: true, expirationDate: at - 1000, autoResumeDate: at + 30 * dayMs });
  if (action === 'share') return changed({ isSharedPurchase: true });
  if (action === 'refund of the first') {
    const [first, ...others] = transactions;
    return { purchase, transactions: first ? [{ ...first, refundedAt: first.refundedAt ?? at }, ...others] : [] };
  }
  if (action === 'refund') {
    const refunded = transactions.map((one, place) =>
      place === transactions.length - 1 ? { ...one, refundedAt: at } : one,
    );
    return {
      purchase: { ...purchase, endedAt: at, cancelationReason: 'Customer.OtherReason' },
      transactions: refunded,
    };
  }
  if (action === 'ask') return changed({});
  const { endedAt: _ended, cancelationReason: _reason, isBillingRetryPeriod: _retry, ...unpaid } = purchase;
  const { isPaused: _paused, autoResumeDate: _resume, ...running } = unpaid;
  const renewed: Purchase = {
    ...running,
    transactionId: `store_a:${index + 2}`,
    lastRenewalDate: at,
    expirationDate: at + 31 * dayMs,
    ...(action === 'upgrade' && { productId: `store_a:plan-${index}` }),
  };
  return { purchase: renewed, transactions: [...transactions, createTransaction(renewed)] };
}
