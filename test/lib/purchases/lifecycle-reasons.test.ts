import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayMs } from '../../../lib/foundation/time.ts';
import {
  findLifecycleReasons,
  type LifecycleReason,
  type NotificationReason,
  type StateAt,
} from '../../../lib/purchases/lifecycle-reasons.ts';
import { merge, type PurchaseState } from '../../../lib/purchases/merge.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { createObservation, createTransaction, startDate } from '../../../testing/given.ts';
import { buildObservations, historyActions } from '../../../testing/subscription-history.ts';

const createState = (state: Partial<Purchase> = {}): PurchaseState => merge(undefined, createObservation(state));
const createStateAt = (laterMs: number, state: Partial<Purchase> = {}) => ({
  state: createState(state),
  at: startDate + laterMs,
});
const findReasons = (from: Partial<Purchase>, to: Partial<Purchase>) =>
  findLifecycleReasons(createStateAt(0, from), createStateAt(dayMs, to));

describe('findLifecycleReasons', () => {
  it('does not announce a known renewal again if the store moves the date of a renewal', () => {
    const toState = (lastDay: number, ...days: number[]) => {
      const at = (day: number) => startDate + day * dayMs;
      const { purchase } = createObservation({ transactionId: 'store_a:2', lastRenewalDate: at(lastDay) });
      const transactions = [0, ...days].map((day, index) =>
        createTransaction(purchase, { transactionId: `store_a:${index}`, purchaseDate: at(day) }),
      );
      return { state: merge(undefined, createObservation(purchase, { transactions })), at: startDate };
    };
    expect(findLifecycleReasons(toState(60, 30, 60), toState(61, 30, 61))).toEqual([]);
    expect(findLifecycleReasons(toState(60, 30, 60), toState(30, 30, 10))).toEqual([]);
    expect(findLifecycleReasons(toState(60, 30, 60), toState(90, 30, 60, 90))).toEqual(['RENEWED']);
  });

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
      'a replacement, which the new purchase announces',
      {},
      { endedAt: startDate + dayMs, cancelationReason: 'System.Replaced' },
      [],
    ],
    ['a plan chosen for the next renewal', {}, { renewalProductId: 'store_a:yearly' }, ['PLAN_CHANGED']],
    // An expired purchase does not show the chosen plan. It was announced when it was chosen.
    [
      'access that returns in a grace period with the plan that was chosen before',
      { expirationDate: startDate, renewalIntent: 'Lapse' },
      {
        renewalProductId: 'store_a:yearly',
        isBillingRetryPeriod: true,
        expirationDate: startDate + 6 * dayMs,
      },
      ['RENEWED', 'ENTERED_GRACE_PERIOD'],
    ],
    ['a chosen plan that is withdrawn', { renewalProductId: 'store_a:yearly' }, {}, []],
    [
      'a chosen plan that is replaced by another one',
      { renewalProductId: 'store_a:yearly' },
      { renewalProductId: 'store_a:weekly' },
      ['PLAN_CHANGED'],
    ],
    [
      'the renewal with the chosen plan',
      { renewalProductId: 'store_a:yearly' },
      { productId: 'store_a:yearly', transactionId: 'store_a:2' },
      ['RENEWED'],
    ],
    [
      'a renewal that has expired since',
      { expirationDate: startDate },
      { transactionId: 'store_a:2', expirationDate: startDate + dayMs },
      ['RENEWED', 'EXPIRED'],
    ],
    [
      'a renewal and a failed payment for the next period in one observation',
      {},
      { transactionId: 'store_a:2', isBillingRetryPeriod: true, expirationDate: startDate + 70 * dayMs },
      ['RENEWED', 'ENTERED_GRACE_PERIOD'],
    ],
    [
      'a payment between two failed ones',
      { isBillingRetryPeriod: true },
      { transactionId: 'store_a:2', isBillingRetryPeriod: true, expirationDate: startDate + 70 * dayMs },
      ['RENEWED', 'ENTERED_GRACE_PERIOD'],
    ],
    [
      'another plan with a price increase and auto-renewal switched off',
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
      'a renewal although auto-renewal was switched off',
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
    [
      'a new payment for another product after the expiration',
      { expirationDate: startDate },
      { productId: 'store_a:yearly', transactionId: 'store_a:2' },
      ['RENEWED'],
    ],
    [
      'a new payment for the same product after a plan change that never took effect',
      { expirationDate: startDate, renewalProductId: 'store_a:yearly' },
      { transactionId: 'store_a:2' },
      ['RENEWED'],
    ],
    ['a restored purchase', { expirationDate: startDate }, {}, ['RENEWED']],
    ['an unchanged purchase', {}, {}, []],
  ])('returns the reasons of %s', (_what, from, to, reasons) => {
    expect(findReasons(from, to)).toEqual(reasons);
  });

  it('returns EXTENDED for a late renewal only if the store reports it', () => {
    const { purchase } = createObservation();
    const late = createObservation(
      { expirationDate: startDate + 32 * dayMs },
      { transactions: [createTransaction(purchase)] },
    );
    const [before, after] = [
      createStateAt(30 * dayMs),
      { state: merge(undefined, late), at: startDate + 31 * dayMs + 5000 },
    ];
    expect(findLifecycleReasons(before, after)).toEqual([]);
    expect(findLifecycleReasons(before, after, 'EXTENDED')).toEqual(['EXTENDED']);
  });

  it('returns no RENEWED for a new purchase whose latest payment was made for the purchase which it continues', () => {
    const { purchase } = createObservation({ transactionId: 'store_b:former' });
    const own = createTransaction(purchase, { transactionId: 'store_b:own', amountMicros: 0 });
    const state = merge(undefined, createObservation({ transactionId: 'store_b:former' }, { transactions: [own] }));
    expect(findLifecycleReasons(undefined, { state, at: startDate })).toEqual(['PURCHASED']);
  });

  it('returns PURCHASED for a new purchase, with its end, unless it is not paid', () => {
    expect(findLifecycleReasons(undefined, createStateAt(0))).toEqual(['PURCHASED']);
    expect(findLifecycleReasons(undefined, createStateAt(0, { isPending: true }))).toEqual([]);
    expect(findLifecycleReasons(undefined, createStateAt(60 * dayMs))).toEqual(['PURCHASED', 'EXPIRED']);
  });

  it('returns REFUNDED for a refund, and REVOKED for a refund of a shared purchase', () => {
    const findRefundReasons = (state: Partial<Purchase>) => {
      const { purchase } = createObservation({ ...state, endedAt: startDate + dayMs });
      const observation = createObservation(purchase, {
        transactions: [createTransaction(purchase, { refundedAt: startDate + dayMs })],
      });
      return findLifecycleReasons(createStateAt(0, state), {
        state: merge(undefined, observation),
        at: startDate + dayMs,
      });
    };
    expect(findRefundReasons({})).toEqual(['REFUNDED']);
    expect(findRefundReasons({ isSharedPurchase: true })).toEqual(['REVOKED']);
  });

  it.each<[string, number, Partial<Purchase>, string[]]>([
    ['has expired', 31, {}, ['REFUNDED', 'EXPIRED']],
    ['will not renew', 1, { renewalIntent: 'Lapse' }, ['REFUNDED', 'WILL_LAPSE']],
  ])('returns the refund of an earlier period of a subscription that %s', (_what, days, state, reasons) => {
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

  it('returns no reason for a replaced purchase, with either end date', () => {
    for (const end of [{ endedAt: startDate + dayMs }, { expirationDate: startDate + dayMs }]) {
      const replaced = { ...end, cancelationReason: 'System.Replaced', renewalIntent: 'Lapse' } as const;
      expect(findLifecycleReasons(createStateAt(0), createStateAt(2 * dayMs, replaced))).toEqual([]);
    }
  });

  it.each(['Unknown', 'System', 'Developer'] as const)(
    'returns REVOKED for an early end by the reason %s',
    (reason) => {
      const ended = { endedAt: startDate + dayMs, cancelationReason: reason } as const;
      expect(findLifecycleReasons(createStateAt(0), createStateAt(2 * dayMs, ended))).toEqual(['REVOKED']);
      expect(
        findLifecycleReasons(
          createStateAt(0),
          createStateAt(2 * dayMs, { ...ended, cancelationReason: 'System.BillingError' }),
        ),
      ).toEqual(['EXPIRED']);
      expect(
        findLifecycleReasons(
          createStateAt(0),
          createStateAt(40 * dayMs, { ...ended, endedAt: startDate + 31 * dayMs }),
        ),
      ).toEqual(['EXPIRED']);
    },
  );

  it('returns no renewal if the store reports the transaction before a refunded one, or the refunded one again', () => {
    const first = createObservation();
    const second = { ...first.purchase, transactionId: 'store_a:2', lastRenewalDate: startDate + dayMs };
    const both = [...first.transactions, createTransaction(second, { refundedAt: startDate + 2 * dayMs })];
    const ended = { endedAt: startDate + 2 * dayMs, cancelationReason: 'Customer.OtherReason' } as const;
    const createRefunded = (purchase: Purchase, asOf: number) => ({
      state: merge(undefined, { ...first, asOf, purchase: { ...purchase, ...ended }, transactions: both }),
      at: startDate + 3 * dayMs,
    });
    expect(findLifecycleReasons(createRefunded(second, 1), createRefunded(first.purchase, 2))).toEqual([]);
    expect(findLifecycleReasons(createRefunded(first.purchase, 1), createRefunded(second, 2))).toEqual([]);
  });

  it.each<[string, Partial<Transaction>]>([
    ['a trial', { isTrialPeriod: true }],
    ['a free payment', { amountMicros: 0 }],
  ])(
    'returns REVOKED for %s that the store takes back, in any order, because nothing is refunded',
    (_what, payment) => {
      const end = { endedAt: startDate + dayMs, cancelationReason: 'Customer' as const };
      const { purchase } = createObservation();
      const at = (changes: Partial<Purchase>, refund: Partial<Transaction> = {}) => ({
        state: merge(
          undefined,
          createObservation(
            { ...purchase, ...changes },
            { transactions: [createTransaction(purchase, { ...payment, ...refund })] },
          ),
        ),
        at: startDate + (changes.endedAt === undefined ? 0 : 2 * dayMs),
      });
      const [active, ended, refunded] = [at({}), at(end), at(end, { refundedAt: startDate + dayMs })];
      expect(findLifecycleReasons(active, refunded, 'REFUNDED')).toEqual(['REVOKED']);
      expect(findLifecycleReasons(ended, refunded, 'REFUNDED')).toEqual([]);
      const running = { ...refunded, state: { ...refunded.state, purchase } };
      expect(findLifecycleReasons(active, running, 'REFUNDED')).toEqual([]);
    },
  );

  const revoked = { endedAt: startDate + dayMs, cancelationReason: 'System' } as const;
  const revokedAsExpired = { expirationDate: startDate + dayMs, cancelationReason: 'System' } as const;

  it.each<[string, StateAt, NotificationReason | undefined, LifecycleReason[]]>([
    ['before the end', createStateAt(0), undefined, ['REVOKED']],
    ['after the end', createStateAt(dayMs, revoked), undefined, ['REFUNDED']],
    ['after an expiration', createStateAt(dayMs, revokedAsExpired), undefined, ['REFUNDED']],
    ['after the end, if the store reports the revocation again', createStateAt(dayMs, revoked), 'REVOKED', []],
    ['after the end, if the store reports a refund', createStateAt(dayMs, revoked), 'REFUNDED', ['REFUNDED']],
  ])('returns the reasons of the refund of a revocation %s', (_when, before, storeReason, reasons) => {
    const { purchase } = createObservation(revoked);
    const refunded = createObservation(purchase, {
      asOf: startDate + 2 * dayMs,
      transactions: [createTransaction(purchase, { refundedAt: startDate + dayMs })],
    });
    const after = { state: merge(undefined, refunded), at: startDate + 2 * dayMs };
    expect(findLifecycleReasons(before, after, storeReason)).toEqual(reasons);
  });

  it('returns EXPIRED once, for the first state after the expiration date', () => {
    const before = createStateAt(0);
    const after = createStateAt(40 * dayMs);
    expect(findLifecycleReasons(before, after)).toEqual(['EXPIRED']);
    expect(findLifecycleReasons(after, createStateAt(41 * dayMs))).toEqual([]);
  });

  it('returns no reasons for two equal states', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...historyActions), { maxLength: 8 }), (actions) => {
        const state = buildObservations(actions).reduce<PurchaseState | undefined>(
          (state, observation) => merge(state, observation),
          undefined,
        );
        if (!state) throw new Error('a history has at least one observation');
        const stateAt = { state, at: state.asOf };
        expect(findLifecycleReasons(stateAt, stateAt)).toEqual([]);
      }),
    );
  });
});
