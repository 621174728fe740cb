import fc from 'fast-check';
import { strategies } from '../lib/apps/app.ts';
import type { Service } from '../lib/foundation/service.ts';
import { dayMs, hourMs } from '../lib/foundation/time.ts';
import type { RecordPurchaseInput } from '../lib/purchases/prepare-update.ts';
import type { Purchase } from '../lib/purchases/purchase.ts';
import { recordPurchase } from '../lib/purchases/record-purchase.ts';
import { createTransaction } from './given.ts';

/** The customers of the histories. Each claims purchases of the others. */
export const users = ['ann', 'bob', 'eve'] as const;

const stepKinds = [
  'buy',
  'renew',
  'change the plan',
  'lapse',
  'expire',
  'refund',
  'refund a part',
  'pause',
  'resume',
  'consume',
  'claim',
  'link',
  'observe',
] as const;

const arbitraryStep = fc.record({
  kind: fc.constantFrom(...stepKinds, 'claim', 'link', 'claim', 'link'),
  purchaseIndex: fc.nat(4),
  user: fc.constantFrom(...users),
  hoursBefore: fc.integer({ min: 1, max: 40 }),
});

/** One step: `hoursBefore` after the previous one, `user` or the store changes a purchase. */
type HistoryStep = typeof arbitraryStep extends fc.Arbitrary<infer T> ? T : never;

/** Generates steps on up to five purchases of one app. */
export const arbitraryHistories = fc.record({
  strategy: fc.constantFrom(...strategies, 'last'),
  steps: fc.array(arbitraryStep, { minLength: 1, maxLength: 14 }),
});

/** The initial state of each purchase. */
const purchaseTemplates: readonly Partial<Purchase>[] = [
  { productType: 'paid subscription' },
  { productType: 'paid subscription', sandbox: true },
  { productType: 'consumable' },
  { productType: 'non renewing subscription' },
  { productType: 'paid subscription', renewalIntent: 'Renew', isTrialPeriod: true },
];

/** Creates a function that records one step. Time starts at `from`, in epoch milliseconds. */
export function createHistoryRunner(
  service: Service,
  appName: string,
  { strategy, from }: Pick<RecordPurchaseInput, 'strategy'> & { from: number },
) {
  const states = new Map<string, Purchase>();
  let now = from;
  return async ({ kind, purchaseIndex, user, hoursBefore }: HistoryStep): Promise<void> => {
    now += hoursBefore * hourMs;
    const purchaseId = `store_a:${purchaseIndex}`;
    const before = states.get(purchaseId);
    const purchase = applyStep(before ?? createPurchase(purchaseId, purchaseIndex, now), kind, now);
    states.set(purchaseId, purchase);
    const transaction = createTransaction(purchase, {
      purchaseDate: purchase.lastRenewalDate ?? purchase.purchaseDate ?? now,
      ...(purchase.isTrialPeriod && { isTrialPeriod: true }),
      ...(kind === 'refund' && { refundedAt: now }),
      ...(kind === 'refund a part' && {
        partialRefunds: [{ id: `refund-${now}`, date: now, amountMicros: (purchaseIndex + 1) * 700_000 }],
      }),
    });
    const isLink = kind === 'link' && before !== undefined;
    const isValidation = kind === 'buy' || kind === 'claim' || !before;
    await recordPurchase(service, appName, purchaseId, {
      trigger: isLink ? 'link' : isValidation ? 'validation' : 'notification',
      ...(!isLink && { observation: { asOf: now, purchase, transactions: [transaction], userAliases: [] } }),
      ...((isValidation || isLink) && { claim: { username: user, source: isLink ? 'manual' : 'validation' } }),
      strategy,
      now,
    });
  };
}

function createPurchase(purchaseId: string, purchaseIndex: number, now: number): Purchase {
  const template = purchaseTemplates[purchaseIndex] ?? {};
  return {
    purchaseId,
    transactionId: purchaseId,
    productId: `store_a:product-${purchaseIndex}`,
    platform: 'store_a',
    sandbox: false,
    // Purchase dates differ, so that the order of the purchases is defined.
    purchaseDate: now - purchaseIndex,
    // A non-renewing subscription lacks an expiration date at some stores.
    ...(template.productType === 'paid subscription' && { expirationDate: now + 20 * dayMs }),
    ...template,
  };
}

function applyStep(purchase: Purchase, kind: HistoryStep['kind'], now: number): Purchase {
  const { isPaused: _isPaused, ...resumed } = purchase;
  const { isTrialPeriod: _isTrialPeriod, ...paid } = resumed;
  const isSubscription = purchase.productType === 'paid subscription';
  switch (kind) {
    case 'renew':
      if (!isSubscription) return purchase;
      return {
        ...paid,
        transactionId: `${purchase.purchaseId}-${now}`,
        lastRenewalDate: now,
        expirationDate: now + 20 * dayMs,
        renewalIntent: 'Renew',
      };
    case 'change the plan':
      if (!isSubscription) return purchase;
      return {
        ...paid,
        productId: `store_a:plan-${now % 3}`,
        transactionId: `${purchase.purchaseId}-${now}`,
        lastRenewalDate: now,
        expirationDate: now + 20 * dayMs,
      };
    case 'lapse':
      return isSubscription ? { ...purchase, renewalIntent: 'Lapse' } : purchase;
    case 'expire':
      return isSubscription ? { ...purchase, expirationDate: now - 1, renewalIntent: 'Lapse' } : purchase;
    case 'refund':
      return { ...purchase, endedAt: now, cancelationReason: 'Customer' };
    case 'pause':
      return isSubscription ? { ...purchase, isPaused: true } : purchase;
    case 'resume':
      return resumed;
    case 'consume':
      return purchase.productType === 'consumable' ? { ...purchase, isConsumed: true } : purchase;
    default:
      return purchase;
  }
}
