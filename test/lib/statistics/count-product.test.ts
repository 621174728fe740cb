import { describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../lib/foundation/time.ts';
import { computeUserErasure } from '../../../lib/purchases/erase-user.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import { computePurchaseChange } from '../../../lib/purchases/purchase-change.ts';
import type { StoredPurchase } from '../../../lib/purchases/stored-purchase.ts';
import { countStoredItem } from '../../../lib/statistics/count-item.ts';
import type { ProductCounts } from '../../../lib/statistics/count-product.ts';
import { listCountsChanges } from '../../../lib/statistics/counts-change.ts';
import { createObservation, createTransaction, startDate } from '../../../testing/given.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';

/** Records the purchase of a customer a day after it started. */
function recordPurchase(fields: Partial<Purchase> = {}, username: string | undefined = 'ann', before?: StoredPurchase) {
  const change = computePurchaseChange(before, {
    trigger: 'validation',
    strategy: 'all',
    now: (fields.lastRenewalDate ?? startDate) + dayMs,
    ...(username !== undefined && { claim: { username, source: 'validation' } }),
    observation: createObservation(fields, { asOf: (fields.lastRenewalDate ?? startDate) + dayMs }),
  });
  if (!change) throw new Error('The purchase has not changed.');
  return change.after;
}

const toItem = ({ state, ...bookkeeping }: StoredPurchase) => ({ ...bookkeeping, purchase: state.purchase });
const counts = (stored: StoredPurchase): readonly ProductCounts[] =>
  countStoredItem({ kind: 'purchase', item: toItem(stored) }).products;

/** Returns the effect of a stream record with the two versions of a purchase on the products. */
const countsChange = (before: StoredPurchase, after: StoredPurchase): readonly ProductCounts[] => {
  const key = { pk: 'app#P#store_a:1', sk: 'P' };
  const images = { before: { ...key, ...toItem(before) }, after: { ...key, ...toItem(after) } };
  return listCountsChanges(buildStreamRecord(images, 1))[0]?.productCounts ?? [];
};

const product = { platform: 'store_a', productId: 'store_a:monthly' };

describe('countStoredItem (products)', () => {
  it('counts an active subscription on the day on which it started', () => {
    expect(counts(recordPurchase())).toEqual([{ ...product, day: '2026-01-01', counts: { active: 1 } }]);
  });

  it.each<[string, Partial<Purchase>]>([
    ['a sandbox subscription', { sandbox: true }],
    ['a pending subscription', { isPending: true }],
    ['a product that is not a subscription', { productType: 'non consumable' }],
  ])('does not count %s as active', (_title, fields) => {
    expect(counts(recordPurchase(fields))).toEqual([]);
  });

  it('counts a subscription once it has an owner, and still after the owner was erased', () => {
    const { purchase } = createObservation();
    const unclaimed = computePurchaseChange(undefined, {
      trigger: 'notification',
      strategy: 'all',
      now: startDate + dayMs,
      observation: createObservation(purchase),
    })?.after;
    if (!unclaimed) throw new Error('The purchase is not stored.');
    expect(counts(unclaimed)).toEqual([]);
    const owned = recordPurchase({}, 'ann', unclaimed);
    const expected = [{ ...product, day: '2026-01-01', counts: { active: 1 } }];
    expect(counts(owned)).toEqual(expected);
    const erased = computeUserErasure(owned, {
      username: 'ann',
      aliases: new Set<string>(),
      removesRefreshToken: false,
      strategy: 'all',
      now: startDate + 2 * dayMs,
    })?.after;
    expect(erased?.entitledUsers).toEqual([]);
    expect(erased && counts(erased)).toEqual(expected);
    // A later observation keeps the mark of the erased owner.
    const renewalDate = startDate + 31 * dayMs;
    const renewed = {
      transactionId: 'store_a:2',
      lastRenewalDate: renewalDate,
      expirationDate: renewalDate + 31 * dayMs,
    };
    const observation = createObservation(renewed, { asOf: renewalDate });
    const after = computePurchaseChange(erased, {
      trigger: 'notification',
      strategy: 'all',
      now: renewalDate,
      observation,
    })?.after;
    expect(after && counts(after)).toEqual(expected);
  });

  it('counts partial refunds on their days', () => {
    const transaction = createTransaction(createObservation().purchase, {
      partialRefunds: [{ id: 'a', date: startDate + dayMs, amountMicros: 1_000_000 }],
      refundedAt: startDate + 3 * dayMs,
    });
    const countsByDay = countStoredItem({ kind: 'transaction', item: { transaction } }).products;
    expect(countsByDay.map(({ day, counts: sums }) => [day, sums.usd])).toEqual([
      ['2026-01-01', undefined],
      ['2026-01-01', 4_990_000],
      ['2026-01-02', -1_000_000],
      ['2026-01-04', -3_990_000],
    ]);
  });
});

describe('countStoredItem (unverified)', () => {
  const renewalDate = startDate + 31 * dayMs;
  const unverifiedUntil = renewalDate + dayMs;
  const countAt = (checkedAt: number) =>
    countStoredItem({
      kind: 'purchase',
      item: {
        purchase: createObservation({ unverifiedUntil }).purchase,
        createdAt: startDate,
        checkedAt,
        entitledUsers: ['ann'],
      },
    }).products;

  it('counts an active subscription separately while its renewal is not verified', () => {
    const active = { ...product, day: '2026-01-01', counts: { active: 1 } };
    expect(countAt(startDate)).toEqual([active]);
    expect(countAt(renewalDate)).toEqual([active, { ...product, day: '2026-02-01', counts: { unverified: 1 } }]);
    expect(countAt(unverifiedUntil)).toEqual([active, { ...product, day: '2026-02-02', counts: { active: -1 } }]);
  });
});

describe('listCountsChanges (products)', () => {
  const renewalDate = startDate + 31 * dayMs;
  const renewal = {
    transactionId: 'store_a:2',
    lastRenewalDate: renewalDate,
    expirationDate: renewalDate + 31 * dayMs,
  };

  it('changes nothing if a subscription renews', () => {
    const before = recordPurchase();
    expect(countsChange(before, recordPurchase(renewal, 'ann', before))).toEqual([]);
  });

  it('moves a subscription that changes its product on the day of the change', () => {
    const before = recordPurchase();
    const after = recordPurchase({ ...renewal, productId: 'store_a:yearly' }, 'ann', before);
    expect(countsChange(before, after)).toEqual([
      { ...product, day: '2026-02-01', counts: { active: -1 } },
      { ...product, productId: 'store_a:yearly', day: '2026-02-01', counts: { active: 1 } },
    ]);
  });

  it('counts the conversion of a trial on its day and on the day on which the trial started', () => {
    const before = recordPurchase({ isTrialPeriod: true });
    const after = recordPurchase(renewal, 'ann', before);
    expect(countsChange(before, after)).toEqual([
      { ...product, day: '2026-01-01', counts: { 'cohort.converted': 1 } },
      { ...product, day: '2026-02-01', counts: { activeTrials: -1, 'trials.converted': 1 } },
    ]);
  });
});
