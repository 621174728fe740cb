import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findLifecycleReasons } from '../../../lib/purchases/lifecycle-reasons.ts';
import { merge, type PurchaseState } from '../../../lib/purchases/merge.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import { createObservation, createTransaction, dayMs, startDate } from '../../../testing/given.ts';
import { buildObservations, historyActions } from '../../../testing/subscription-history.ts';

const known = (state: Partial<Purchase> = {}): PurchaseState => merge(undefined, createObservation(state));
const at = (later: number, state: Partial<Purchase> = {}) => ({ state: known(state), at: startDate + later });
const changed = (from: Partial<Purchase>, to: Partial<Purchase>) => findLifecycleReasons(at(0, from), at(dayMs, to));

describe('the reasons of a change', () => {
  it.each<[string, Partial<Purchase>, Partial<Purchase>, string[]]>([
    ['a paid pending purchase', { isPending: true }, {}, ['PURCHASED']],
    ['a renewal', {}, { transactionId: 'store_a:2' }, ['RENEWED']],
    ['auto-renewal switched off', {}, { renewalIntent: 'Lapse' }, ['WILL_LAPSE']],
    ['auto-renewal switched on', { renewalIntent: 'Lapse' }, {}, ['WILL_AUTO_RENEW']],
    [
      'a failed payment in grace',
      {},
      { isBillingRetryPeriod: true, expirationDate: startDate + 40 * dayMs },
      ['ENTERED_GRACE_PERIOD'],
    ],
    ['a later expiry without a payment', {}, { expirationDate: startDate + 40 * dayMs }, ['EXTENDED']],
    ['another product', {}, { productId: 'store_a:yearly', transactionId: 'store_a:2' }, ['PLAN_CHANGED']],
    ['a pause', {}, { isPaused: true, expirationDate: startDate }, ['PAUSED']],
    ['an expiry', {}, { expirationDate: startDate + dayMs }, ['EXPIRED']],
    [
      'a replacement, which its successor tells',
      {},
      { endedAt: startDate + dayMs, cancelationReason: 'System.Replaced' },
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
      { expirationDate: startDate },
      { transactionId: 'store_a:2', expirationDate: startDate + dayMs },
      ['RENEWED', 'EXPIRED'],
    ],
    [
      'a renewal whose successor could not be paid for, both learned at once',
      {},
      { transactionId: 'store_a:2', isBillingRetryPeriod: true, expirationDate: startDate + 70 * dayMs },
      ['RENEWED', 'ENTERED_GRACE_PERIOD'],
    ],
    [
      'a payment between two that failed',
      { isBillingRetryPeriod: true },
      { transactionId: 'store_a:2', isBillingRetryPeriod: true, expirationDate: startDate + 70 * dayMs },
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
      { transactionId: 'store_a:2', expirationDate: startDate + 62 * dayMs },
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
    ['a purchase that came back', { expirationDate: startDate }, {}, ['RENEWED']],
    ['nothing', {}, {}, []],
  ])('tell of %s', (_what, from, to, reasons) => {
    expect(changed(from, to)).toEqual(reasons);
  });

  it('tell of no extension while a store is late with a renewal, unless it says so', () => {
    const { purchase } = createObservation();
    const late = createObservation(
      { expirationDate: startDate + 32 * dayMs },
      { transactions: [createTransaction(purchase)] },
    );
    const [before, after] = [at(30 * dayMs), { state: merge(undefined, late), at: startDate + 31 * dayMs + 5000 }];
    expect(findLifecycleReasons(before, after)).toEqual([]);
    expect(findLifecycleReasons(before, after, 'EXTENDED')).toEqual(['EXTENDED']);
  });

  it('tell of a first sight only when it gives access', () => {
    expect(findLifecycleReasons(undefined, at(0))).toEqual(['PURCHASED']);
    expect(findLifecycleReasons(undefined, at(0, { isPending: true }))).toEqual([]);
    expect(findLifecycleReasons(undefined, at(60 * dayMs))).toEqual([]);
  });

  it('tell of money given back, for a shared purchase of its revocation', () => {
    const refunded = (state: Partial<Purchase>) => {
      const { purchase } = createObservation({ ...state, endedAt: startDate + dayMs });
      const look = createObservation(purchase, {
        transactions: [createTransaction(purchase, { refundedAt: startDate + dayMs })],
      });
      return findLifecycleReasons(at(0, state), { state: merge(undefined, look), at: startDate + dayMs });
    };
    expect(refunded({})).toEqual(['REFUNDED']);
    expect(refunded({ isSharedPurchase: true })).toEqual(['REVOKED']);
  });

  it.each<[string, number, Partial<Purchase>, string[]]>([
    ['has run out', 31, {}, ['REFUNDED', 'EXPIRED']],
    ['will not renew', 1, { renewalIntent: 'Lapse' }, ['REFUNDED', 'WILL_LAPSE']],
  ])('tell of a refund of an earlier period, and that the subscription %s', (_what, days, state, reasons) => {
    const { purchase } = createObservation();
    const old = createTransaction(purchase, {
      transactionId: 'store_a:0',
      purchaseDate: startDate - 31 * dayMs,
      expirationDate: startDate,
    });
    const before = merge(undefined, createObservation({}, { transactions: [old, createTransaction(purchase)] }));
    const transactions = [{ ...old, refundedAt: startDate + dayMs }, createTransaction(purchase)];
    const after = merge(before, createObservation(state, { asOf: startDate + days * dayMs, transactions }));
    expect(
      findLifecycleReasons({ state: before, at: startDate }, { state: after, at: startDate + days * dayMs }),
    ).toEqual(reasons);
  });

  it('leave it to the purchase that took its place to tell of the change, however the end of this one is dated', () => {
    for (const end of [{ endedAt: startDate + dayMs }, { expirationDate: startDate + dayMs }]) {
      const replaced = { ...end, cancelationReason: 'System.Replaced', renewalIntent: 'Lapse' } as const;
      expect(findLifecycleReasons(at(0), at(2 * dayMs, replaced))).toEqual([]);
    }
  });

  it('tell of a purchase that the store took away before its date without saying why', () => {
    const gone = { endedAt: startDate + dayMs, cancelationReason: 'Unknown' } as const;
    expect(findLifecycleReasons(at(0), at(2 * dayMs, gone))).toEqual(['REVOKED']);
    expect(findLifecycleReasons(at(0), at(2 * dayMs, { ...gone, cancelationReason: 'System.BillingError' }))).toEqual([
      'EXPIRED',
    ]);
    expect(findLifecycleReasons(at(0), at(40 * dayMs, { ...gone, endedAt: startDate + 31 * dayMs }))).toEqual([
      'EXPIRED',
    ]);
  });

  it('tell of no payment when the look at a refunded one shows the payment before it, nor when it shows it again', () => {
    const first = createObservation();
    const second = { ...first.purchase, transactionId: 'store_a:2', lastRenewalDate: startDate + dayMs };
    const both = [...first.transactions, createTransaction(second, { refundedAt: startDate + 2 * dayMs })];
    const ended = { endedAt: startDate + 2 * dayMs, cancelationReason: 'Customer.OtherReason' } as const;
    const shows = (purchase: Purchase, asOf: number) => ({
      state: merge(undefined, { ...first, asOf, purchase: { ...purchase, ...ended }, transactions: both }),
      at: startDate + 3 * dayMs,
    });
    expect(findLifecycleReasons(shows(second, 1), shows(first.purchase, 2))).toEqual([]);
    expect(findLifecycleReasons(shows(first.purchase, 1), shows(second, 2))).toEqual([]);
  });

  it('tell of an expiry by the clock once, at the first state that is written after it', () => {
    const before = at(0);
    const after = at(40 * dayMs);
    expect(findLifecycleReasons(before, after)).toEqual(['EXPIRED']);
    expect(findLifecycleReasons(after, at(41 * dayMs))).toEqual([]);
  });

  it('are none between a state and itself', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...historyActions), { maxLength: 8 }), (actions) => {
        const state = buildObservations(actions).reduce<PurchaseState | undefined>(
          (sum, look) => merge(sum, look),
          undefined,
        );
        if (!state) throw new Error('a life has at least one look');
        const written = { state, at: state.asOf };
        expect(findLifecycleReasons(written, written)).toEqual([]);
      }),
    );
  });
});
