import { dayMs, secondMs } from '../lib/foundation/time.ts';
import type { EncryptedObservation } from '../lib/purchases/merge.ts';
import type { Purchase } from '../lib/purchases/purchase.ts';
import type { Transaction } from '../lib/purchases/transaction.ts';
import { createObservation, createTransaction, startDate } from './given.ts';

export const historyActions = [
  'renew',
  'cancel',
  'uncancel',
  'grace',
  'hold',
  'pause',
  'share',
  'refund',
  'refund first transaction',
  'refund a part',
  'upgrade',
  'observe',
] as const;
export type HistoryAction = (typeof historyActions)[number];

/** Builds the observations of one subscription: one at `startDate`, and one after each action, a day apart. */
export function buildObservations(actions: readonly HistoryAction[]): EncryptedObservation[] {
  const firstObservation = createObservation();
  const observations = [firstObservation];
  let purchase = firstObservation.purchase;
  let transactions: Transaction[] = [...firstObservation.transactions];
  actions.forEach((action, index) => {
    const at = startDate + (index + 1) * dayMs;
    ({ purchase, transactions } = applyAction(purchase, transactions, { action, at, index }));
    observations.push({ asOf: at, purchase, transactions, userAliases: index % 3 === 0 ? ['token'] : [] });
  });
  return observations;
}

interface SubscriptionState {
  readonly purchase: Purchase;
  readonly transactions: Transaction[];
}

function applyAction(
  purchase: Purchase,
  transactions: Transaction[],
  { action, at, index }: { action: HistoryAction; at: number; index: number },
): SubscriptionState {
  const withFields = (fields: Partial<Purchase>) => ({ purchase: { ...purchase, ...fields }, transactions });
  switch (action) {
    case 'cancel':
      return withFields({ renewalIntent: 'Lapse', renewalIntentChangeDate: at });
    case 'uncancel':
      return withFields({ renewalIntent: 'Renew', renewalIntentChangeDate: at });
    case 'grace':
      return withFields({ isBillingRetryPeriod: true, expirationDate: at + 16 * dayMs });
    case 'hold':
      return withFields({ isBillingRetryPeriod: true, expirationDate: at - secondMs });
    case 'pause':
      return withFields({ isPaused: true, expirationDate: at - secondMs, autoResumeDate: at + 30 * dayMs });
    case 'share':
      return withFields({ isSharedPurchase: true });
    case 'refund first transaction':
      return {
        purchase,
        transactions: transactions.map((transaction, i) => (i === 0 ? refund(transaction, at) : transaction)),
      };
    case 'refund a part':
      return {
        purchase,
        transactions: transactions.map((transaction, i) =>
          i === transactions.length - 1
            ? { ...transaction, partialRefunds: [{ id: `refund-${index}`, date: at, amountMicros: 1_000_000 }] }
            : transaction,
        ),
      };
    case 'refund':
      return {
        purchase: { ...purchase, endedAt: at, cancelationReason: 'Customer.OtherReason' },
        transactions: transactions.map((transaction, i) =>
          i === transactions.length - 1 ? { ...transaction, refundedAt: at } : transaction,
        ),
      };
    case 'observe':
      return withFields({});
    default:
      return renew(purchase, transactions, { at, index, isUpgrade: action === 'upgrade' });
  }
}

const refund = (transaction: Transaction, at: number): Transaction => ({
  ...transaction,
  refundedAt: transaction.refundedAt ?? at,
});

function renew(
  purchase: Purchase,
  transactions: Transaction[],
  { at, index, isUpgrade }: { at: number; index: number; isUpgrade: boolean },
): SubscriptionState {
  const { endedAt: _endedAt, cancelationReason: _reason, isBillingRetryPeriod: _retry, ...paid } = purchase;
  const { isPaused: _isPaused, autoResumeDate: _resume, ...resumed } = paid;
  const renewed: Purchase = {
    ...resumed,
    transactionId: `store_a:${index + 2}`,
    lastRenewalDate: at,
    expirationDate: at + 31 * dayMs,
    ...(isUpgrade && { productId: `store_a:plan-${index}` }),
  };
  return { purchase: renewed, transactions: [...transactions, createTransaction(renewed)] };
}
