import type { Seen } from '../../lib/purchases/merge.ts';
import type { Purchase } from '../../lib/purchases/purchase.ts';
import type { Transaction } from '../../lib/transactions/transaction.ts';
import { day, paid, seenPurchase, start } from './given.ts';

export const lifeActions = [
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
export type LifeAction = (typeof lifeActions)[number];

/** What a store would let us observe of one subscription that lives through the actions, a look after each of them. */
export function observationsOf(actions: readonly LifeAction[]): Seen[] {
  const first = seenPurchase();
  const looks = [first];
  let purchase = first.purchase;
  let transactions: Transaction[] = [...first.transactions];
  actions.forEach((action, index) => {
    const at = start + (index + 1) * day;
    ({ purchase, transactions } = live(purchase, transactions, { action, at, index }));
    looks.push({ asOf: at, purchase, transactions, userTokens: index % 3 === 0 ? ['token'] : [] });
  });
  return looks;
}

function live(
  purchase: Purchase,
  transactions: Transaction[],
  { action, at, index }: { action: LifeAction; at: number; index: number },
): { purchase: Purchase; transactions: Transaction[] } {
  const changed = (fields: Partial<Purchase>) => ({ purchase: { ...purchase, ...fields }, transactions });
  if (action === 'cancel') return changed({ renewalIntent: 'Lapse', renewalIntentChangeDate: at });
  if (action === 'uncancel') return changed({ renewalIntent: 'Renew', renewalIntentChangeDate: at });
  if (action === 'grace') return changed({ isBillingRetryPeriod: true, expirationDate: at + 16 * day });
  if (action === 'hold') return changed({ isBillingRetryPeriod: true, expirationDate: at - 1000 });
  if (action === 'pause') return changed({ isPaused: true, expirationDate: at - 1000, autoResumeDate: at + 30 * day });
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
    expirationDate: at + 31 * day,
    ...(action === 'upgrade' && { productId: `store_a:plan-${index}` }),
  };
  return { purchase: renewed, transactions: [...transactions, paid(renewed)] };
}
