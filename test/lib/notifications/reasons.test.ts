import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { lifecycleReasons } from '../../../lib/notifications/reasons.ts';
import { type Known, merge } from '../../../lib/purchases/merge.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import { day, paid, seenPurchase, start } from '../../support/given.ts';
import { lifeActions, observationsOf } from '../../support/life.ts';

const known = (state: Partial<Purchase> = {}): Known => merge(undefined, seenPurchase(state));
const at = (later: number, state: Partial<Purchase> = {}) => ({ known: known(state), at: start + later });
const changed = (from: Partial<Purchase>, to: Partial<Purchase>) => lifecycleReasons(at(0, from), at(day, to));

describe('the reasons of a change', () => {
  it.each<[string, Partial<Purchase>, Partial<Purchase>, string[]]>([
    ['a paid pending purchase', { isPending: true }, {}, ['PURCHASED']],
    ['a renewal', {}, { transactionId: 'store_a:2' }, ['RENEWED']],
    ['auto-renewal switched off', {}, { renewalIntent: 'Lapse' }, ['WILL_LAPSE']],
    ['auto-renewal switched on', { renewalIntent: 'Lapse' }, {}, ['WILL_AUTO_RENEW']],
    [
      'a failed payment in grace',
      {},
      { isBillingRetryPeriod: true, expirationDate: start + 40 * day },
      ['ENTERED_GRACE_PERIOD'],
    ],
    ['a later expiry without a payment', {}, { expirationDate: start + 40 * day }, ['EXTENDED']],
    ['another product', {}, { productId: 'store_a:yearly', transactionId: 'store_a:2' }, ['PLAN_CHANGED']],
    ['a pause', {}, { isPaused: true, expirationDate: start }, ['PAUSED']],
    ['an expiry', {}, { expirationDate: start + day }, ['EXPIRED']],
    [
      'a replacement, which its successor tells',
      {},
      { endedAt: start + day, cancelationReason: 'System.Replaced' },
      [],
    ],
    ['a plan chosen for the next renewal', {}, { renewalProductId: 'store_a:yearly' }, ['PLAN_CHANGED']],
    ['such a choice withdrawn', { renewalProductId: 'store_a:yearly' }, {}, ['PLAN_CHANGED']],
    [
      'the renewal with the chosen plan',
      { renewalProductId: 'store_a:yearly' },
      { productId: 'store_a:yearly', transactionId: 'store_a:2' },
      ['RENEWED'],
    ],
    [
      'a renewal that has run out since',
      { expirationDate: start },
      { transactionId: 'store_a:2', expirationDate: start + day },
      ['RENEWED', 'EXPIRED'],
    ],
    [
      'a renewal whose successor could not be paid for, both learned at once',
      {},
      { transactionId: 'store_a:2', isBillingRetryPeriod: true, expirationDate: start + 70 * day },
      ['RENEWED', 'ENTERED_GRACE_PERIOD'],
    ],
    [
      'a payment between two that failed',
      { isBillingRetryPeriod: true },
      { transactionId: 'store_a:2', isBillingRetryPeriod: true, expirationDate: start + 70 * day },
      ['RENEWED', 'ENTERED_GRACE_PERIOD'],
    ],
    [
      'another plan with a new price to come and the wish to end it',
      {},
      {
        productId: 'store_a:yearly',
        transactionId: 'store_a:2',
        priceConsentStatus: 'Notified',
        renewalIntent: 'Lapse',
      },
      ['PLAN_CHANGED', 'WILL_LAPSE', 'PRICE_CHANGE_UPDATED'],
    ],
    [
      'a renewal after all',
      { renewalIntent: 'Lapse' },
      { transactionId: 'store_a:2', expirationDate: start + 62 * day },
      ['RENEWED'],
    ],
    ['a price that needs consent', {}, { priceConsentStatus: 'Notified' }, ['PRICE_CHANGE_UPDATED']],
    [
      'a price that was accepted',
      { priceConsentStatus: 'Notified' },
      { priceConsentStatus: 'Agreed' },
      ['PRICE_CHANGE_CONFIRMED'],
    ],
    ['an acknowledgement', { isAcknowledged: false }, { isAcknowledged: true }, ['ACKNOWLEDGED']],
    ['a purchase that came back', { expirationDate: start }, {}, ['RENEWED']],
    ['nothing', {}, {}, []],
  ])('tell of %s', (_what, from, to, reasons) => {
    expect(changed(from, to)).toEqual(reasons);
  });

  it('tell of no extension while a store is late with a renewal, unless it says so', () => {
    const { purchase } = seenPurchase();
    const late = seenPurchase({ expirationDate: start + 32 * day }, { transactions: [paid(purchase)] });
    const [before, after] = [at(30 * day), { known: merge(undefined, late), at: start + 31 * day + 5000 }];
    expect(lifecycleReasons(before, after)).toEqual([]);
    expect(lifecycleReasons(before, after, 'EXTENDED')).toEqual(['EXTENDED']);
  });

  it('tell of a first sight only when it gives access', () => {
    expect(lifecycleReasons(undefined, at(0))).toEqual(['PURCHASED']);
    expect(lifecycleReasons(undefined, at(0, { isPending: true }))).toEqual([]);
    expect(lifecycleReasons(undefined, at(60 * day))).toEqual([]);
  });

  it('tell of money given back, for a shared purchase of its revocation', () => {
    const refunded = (state: Partial<Purchase>) => {
      const { purchase } = seenPurchase({ ...state, endedAt: start + day });
      const look = seenPurchase(purchase, { transactions: [paid(purchase, { refundedAt: start + day })] });
      return lifecycleReasons(at(0, state), { known: merge(undefined, look), at: start + day });
    };
    expect(refunded({})).toEqual(['REFUNDED']);
    expect(refunded({ isSharedPurchase: true })).toEqual(['REVOKED']);
  });

  it.each<[string, number, Partial<Purchase>, string[]]>([
    ['has run out', 31, {}, ['REFUNDED', 'EXPIRED']],
    ['will not renew', 1, { renewalIntent: 'Lapse' }, ['REFUNDED', 'WILL_LAPSE']],
  ])('tell of a refund of an earlier period, and that the subscription %s', (_what, days, state, reasons) => {
    const { purchase } = seenPurchase();
    const old = paid(purchase, { transactionId: 'store_a:0', purchaseDate: start - 31 * day, expirationDate: start });
    const before = merge(undefined, seenPurchase({}, { transactions: [old, paid(purchase)] }));
    const transactions = [{ ...old, refundedAt: start + day }, paid(purchase)];
    const after = merge(before, seenPurchase(state, { asOf: start + days * day, transactions }));
    expect(lifecycleReasons({ known: before, at: start }, { known: after, at: start + days * day })).toEqual(reasons);
  });

  it('leave it to the purchase that took its place to tell of the change, however the end of this one is dated', () => {
    for (const end of [{ endedAt: start + day }, { expirationDate: start + day }]) {
      const replaced = { ...end, cancelationReason: 'System.Replaced', renewalIntent: 'Lapse' } as const;
      expect(lifecycleReasons(at(0), at(2 * day, replaced))).toEqual([]);
    }
  });

  it('tell of a purchase that the store took away before its date without saying why', () => {
    const gone = { endedAt: start + day, cancelationReason: 'Unknown' } as const;
    expect(lifecycleReasons(at(0), at(2 * day, gone))).toEqual(['REVOKED']);
    expect(lifecycleReasons(at(0), at(2 * day, { ...gone, cancelationReason: 'System.BillingError' }))).toEqual([
      'EXPIRED',
    ]);
    expect(lifecycleReasons(at(0), at(40 * day, { ...gone, endedAt: start + 31 * day }))).toEqual(['EXPIRED']);
  });

  it('tell of no payment when the look at a refunded one shows the payment before it, nor when it shows it again', () => {
    const first = seenPurchase();
    const second = { ...first.purchase, transactionId: 'store_a:2', lastRenewalDate: start + day };
    const both = [...first.transactions, paid(second, { refundedAt: start + 2 * day })];
    const ended = { endedAt: start + 2 * day, cancelationReason: 'Customer.OtherReason' } as const;
    const shows = (purchase: Purchase, asOf: number) => ({
      known: merge(undefined, { ...first, asOf, purchase: { ...purchase, ...ended }, transactions: both }),
      at: start + 3 * day,
    });
    expect(lifecycleReasons(shows(second, 1), shows(first.purchase, 2))).toEqual([]);
    expect(lifecycleReasons(shows(first.purchase, 1), shows(second, 2))).toEqual([]);
  });

  it('tell of an expiry by the clock once, at the first state that is written after it', () => {
    const before = at(0);
    const after = at(40 * day);
    expect(lifecycleReasons(before, after)).toEqual(['EXPIRED']);
    expect(lifecycleReasons(after, at(41 * day))).toEqual([]);
  });

  it('are none between a state and itself', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...lifeActions), { maxLength: 8 }), (actions) => {
        const state = observationsOf(actions).reduce<Known | undefined>((sum, look) => merge(sum, look), undefined);
        if (!state) throw new Error('a life has at least one look');
        const written = { known: state, at: state.asOf };
        expect(lifecycleReasons(written, written)).toEqual([]);
      }),
    );
  });
});
