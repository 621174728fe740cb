import { describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../lib/foundation/time.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import { isResubscription, selectPurchasesOfGroup } from '../../../lib/purchases/resubscription.ts';
import { createObservation, startDate } from '../../../testing/given.ts';

const buildPurchase = (fields: Partial<Purchase>): Purchase => createObservation(fields).purchase;
const next = buildPurchase({ purchaseId: 'store_a:2', purchaseDate: startDate + 40 * dayMs });
const expired = buildPurchase({});
const running = buildPurchase({ purchaseId: 'store_a:3', expirationDate: startDate + 60 * dayMs });

describe('isResubscription', () => {
  it.each<[string, readonly Purchase[], boolean]>([
    ['no other purchase', [], false],
    ['an expired purchase', [expired], true],
    ['a purchase without an end', [{ ...running, expirationDate: Number.MAX_SAFE_INTEGER }], false],
    ['an expired and a running purchase', [expired, running], false],
    ['an expired and a later purchase', [expired, { ...running, purchaseDate: startDate + 50 * dayMs }], true],
    ['a paused purchase', [{ ...expired, isPaused: true }], false],
    ['a revoked purchase', [{ ...running, endedAt: startDate + dayMs }], true],
    ['a replaced purchase', [{ ...expired, cancelationReason: 'System.Replaced' }], false],
    [
      'a replaced purchase and its expired successor',
      [{ ...expired, cancelationReason: 'System.Replaced' }, expired],
      true,
    ],
  ])('decides for %s of the group', (_description, ofGroup, expected) => {
    expect(isResubscription(next, { ofGroup })).toBe(expected);
  });

  it('does not resume a linked purchase whose payment is not known yet', () => {
    expect(isResubscription(next, { replaced: { ...expired, isPending: true } })).toBe(false);
  });

  it('prefers the purchase that the store links', () => {
    expect(isResubscription(next, { replaced: running, ofGroup: [expired] })).toBe(false);
    expect(isResubscription(next, { replaced: expired, ofGroup: [running] })).toBe(true);
  });
});

describe('selectPurchasesOfGroup', () => {
  const catalogue = {
    monthly: { type: 'paid subscription' as const, group: 'plans' },
    yearly: { type: 'paid subscription' as const, group: 'plans' },
    'store_b:yearly': { type: 'paid subscription' as const, group: 'Play plans' },
    ungrouped: { type: 'paid subscription' as const },
  };

  it.each<[string, Partial<Purchase>, boolean]>([
    ['the same product', {}, true],
    ['another product', { productId: 'store_a:yearly' }, true],
    ['a product of another store', { platform: 'store_c', productId: 'store_c:yearly' }, true],
    ['a product of another group', { platform: 'store_b', productId: 'store_b:yearly' }, false],
    ['a product without a group', { productId: 'store_a:ungrouped' }, false],
    ['a sandbox purchase', { sandbox: true }, false],
    ['an abandoned purchase', { isAbandoned: true }, false],
    ['the purchase', { purchaseId: next.purchaseId }, false],
  ])('decides for %s', (_description, fields, expected) => {
    const other = buildPurchase(fields);
    expect(selectPurchasesOfGroup(next, [other], catalogue)).toEqual(expected ? [other] : []);
  });

  it('returns nothing for a product without a group', () => {
    expect(selectPurchasesOfGroup({ ...next, productId: 'store_a:ungrouped' }, [expired], catalogue)).toEqual([]);
  });
});
