import fc from 'fast-check';
import { strategies } from '../lib/purchases/claims.ts';
import type { Purchase } from '../lib/purchases/purchase.ts';
import type { RecordPurchase, RecordPurchaseInput } from '../lib/purchases/record-purchase.ts';
import { createTransaction, dayMs } from './given.ts';

/** Users of the lives; they share their purchases, and take them from each other. */
export const users = ['ann', 'bob', 'eve'] as const;
const hour = dayMs / 24;

const stepKinds = [
  'buy',
  'renew',
  'lapse',
  'expire',
  'refund',
  'pause',
  'resume',
  'consume',
  'claim',
  'link',
  'look',
] as const;

/** Something that happens to one of few purchases. */
const arbitraryStep = fc.record({
  deed: fc.constantFrom(...stepKinds, 'claim', 'link', 'claim', 'link'),
  which: fc.nat(4),
  user: fc.constantFrom(...users),
  passes: fc.integer({ min: 1, max: 40 }),
});
type HistoryStep = typeof arbitraryStep extends fc.Arbitrary<infer T> ? T : never;

/** What happens in an application, in order. */
export const arbitraryHistories = fc.record({
  strategy: fc.constantFrom(...strategies, 'last'),
  deeds: fc.array(arbitraryStep, { minLength: 1, maxLength: 14 }),
});

/** Of each purchase: what it is. Dates of purchases differ, so that one of them is the last. */
const kinds: readonly Partial<Purchase>[] = [
  { productType: 'paid subscription' },
  { productType: 'paid subscription', sandbox: true },
  { productType: 'consumable' },
  { productType: 'non renewing subscription' },
  { productType: 'paid subscription', renewalIntent: 'Renew' },
];

/** Lives purchases from `from` on, one deed at a time. */
export function createHistoryRunner(
  recordPurchase: RecordPurchase,
  appName: string,
  { strategy, from }: Pick<RecordPurchaseInput, 'strategy'> & { from: number },
) {
  const states = new Map<string, Purchase>();
  let now = from;
  return async ({ deed, which, user, passes }: HistoryStep): Promise<void> => {
    now += passes * hour;
    const purchaseId = `store_a:${which}`;
    const before = states.get(purchaseId);
    const bought = before ?? newPurchase(purchaseId, which, now);
    const state = deed === 'claim' || deed === 'link' ? bought : after(bought, deed, now);
    states.set(purchaseId, state);
    const refunded = deed === 'refund' && { refundedAt: now };
    const transactions = [
      createTransaction(state, { purchaseDate: state.lastRenewalDate ?? bought.purchaseDate ?? now, ...refunded }),
    ];
    const manual = deed === 'link' && before;
    const claims = deed === 'buy' || deed === 'claim' || !before;
    await recordPurchase(appName, purchaseId, {
      trigger: manual ? 'link' : claims ? 'validation' : 'notification',
      ...(!manual && { observation: { asOf: now, purchase: state, transactions, userAliases: [] } }),
      ...((claims || manual) && { claim: { username: user, source: manual ? 'manual' : 'validation' } }),
      strategy,
      now,
    });
  };
}

function newPurchase(purchaseId: string, which: number, now: number): Purchase {
  const kind = kinds[which] ?? {};
  return {
    purchaseId,
    transactionId: purchaseId,
    productId: `store_a:product-${which}`,
    platform: 'store_a',
    sandbox: false,
    purchaseDate: now - which,
    // A store may not know how long a non-renewing subscription lasts.
    ...(kind.productType === 'paid subscription' && { expirationDate: now + 20 * dayMs }),
    ...kind,
  };
}

function after(state: Purchase, deed: HistoryStep['deed'], now: number): Purchase {
  const { isPaused, ...running } = state;
  const renews = state.productType === 'paid subscription';
  switch (deed) {
    case 'renew':
      if (!renews) return state;
      return {
        ...running,
        transactionId: `${state.purchaseId}-${now}`,
        lastRenewalDate: now,
        expirationDate: now + 20 * dayMs,
        renewalIntent: 'Renew',
      };
    case 'lapse':
      return renews ? { ...state, renewalIntent: 'Lapse' } : state;
    case 'expire':
      return renews ? { ...state, expirationDate: now - 1, renewalIntent: 'Lapse' } : state;
    case 'refund':
      return { ...state, endedAt: now, cancelationReason: 'Customer' };
    case 'pause':
      return renews ? { ...state, isPaused: true } : state;
    case 'resume':
      return running;
    case 'consume':
      return state.productType === 'consumable' ? { ...state, isConsumed: true } : state;
    default:
      return state;
  }
}
