import { describe, expect, it } from '@jest/globals';
import { listRefundedAmounts } from '../../../../lib/purchases/refunds.ts';
import type { Transaction } from '../../../../lib/purchases/transaction.ts';
import {
  givenCharge,
  givenInvoice,
  givenRefund,
  givenSubscription,
  observe,
  observeItems,
  periodEnd,
  periodStart,
  startSeconds,
} from './stripe-fixtures.ts';

const [fixtureItem] = givenSubscription().items.data;
if (!fixtureItem) throw new Error('The fixture must have an item.');

/** An item of the subscription with a product of the same name. */
const givenItem = (id: string, state: object = {}) => ({
  ...fixtureItem,
  id: `si_${id}`,
  created: startSeconds,
  quantity: 1,
  price: { ...fixtureItem.price, id: `price_${id}`, product: `prod_${id}` },
  ...state,
});
const givenLine = (id: string, amount: number, state: object = {}) => ({
  amount,
  quantity: 1,
  period: { start: periodStart, end: periodEnd },
  parent: { subscription_item_details: { proration: false, subscription_item: `si_${id}` } },
  pricing: { price_details: { price: `price_${id}`, product: `prod_${id}` } },
  ...state,
});
const givenProration = (id: string, amount: number, start: number) =>
  givenLine(id, amount, {
    period: { start, end: periodEnd },
    parent: { subscription_item_details: { proration: true, subscription_item: `si_${id}` } },
  });
/** Stripe lists the lines in reverse chronological order. */
const invoice = (amount_paid: number, lines: readonly object[], state: object = {}) =>
  givenInvoice({ amount_paid, lines: { data: lines } as never, ...state });

const items = { data: [givenItem('base'), givenItem('add')] };
const bothLines = [givenLine('add', 500), givenLine('base', 1000)];
const read = (...input: Parameters<typeof observeItems>) =>
  observeItems(...input).map(({ purchase, transactions }) => ({
    id: purchase.purchaseId.replace('processor_a:', ''),
    product: purchase.productId.replace('processor_a:prod_', ''),
    paid: transactions.map(({ productId, amountMicros }) => [
      productId.replace('processor_a:prod_', ''),
      (amountMicros ?? 0) / 10_000,
    ]),
  }));

describe('toSubscriptionObservations: several items', () => {
  it('gives each item a purchase with its own lines, in any order of the response', () => {
    const expected = [
      { id: 'sub_1', product: 'base', paid: [['base', 1000]] },
      { id: 'sub_1:si_add', product: 'add', paid: [['add', 500]] },
    ];
    expect(read({ items }, { invoices: [invoice(1500, bothLines)] })).toEqual(expected);
    const reversed = { items: { data: [...items.data].reverse() } };
    const invoices = [invoice(1500, [...bothLines].reverse())];
    expect(read(reversed, { invoices, mainProductId: 'prod_base' })).toEqual(expected);
  });

  it.each([
    [
      'a tax and a discount',
      1430,
      [
        givenLine('add', 500, { taxes: [{ amount: 50, tax_behavior: 'exclusive' }] }),
        givenLine('base', 1000, {
          discount_amounts: [{ amount: 220 }],
          taxes: [{ amount: 100, tax_behavior: 'exclusive' }],
        }),
      ],
      [880, 550],
    ],
    ['a customer balance', 1000, bothLines, [667, 333]],
    ['a separate invoice item', 2000, [givenLine('fee', 500, { parent: null }), ...bothLines], [1500, 500]],
    [
      'a downgrade whose credit pays the other item',
      100,
      [
        givenProration('base', -1000, periodStart),
        givenProration('base', 200, periodStart),
        givenProration('add', 900, periodStart),
      ],
      [0, 100],
    ],
    [
      'the credit of a removed item, which pays the others',
      1100,
      [...bothLines, givenProration('gone', -400, periodStart)],
      [733, 367, undefined],
    ],
  ])('splits the paid amount of an invoice with %s', (_title, paid, lines, expected) => {
    const purchases = read({ items }, { invoices: [invoice(paid, lines)] });
    expect(purchases.map(({ paid: payments }) => payments[0]?.[1])).toEqual(expected);
  });

  it('splits what was paid without the credits that a credit grant applied to a line', () => {
    const credit = [{ amount: 400, type: 'credit_balance_transaction' }];
    const discount = {
      discount_amounts: [{ amount: 100 }],
      pretax_credit_amounts: [{ amount: 100, type: 'discount' }],
    };
    const lines = [givenLine('add', 500, { pretax_credit_amounts: credit }), givenLine('base', 1000, discount)];
    expect(read({ items }, { invoices: [invoice(1000, lines)] }).map(({ paid }) => paid)).toEqual([
      [['base', 900]],
      [['add', 100]],
    ]);
  });

  it('keeps the period of each item if their intervals differ', () => {
    const yearEnd = startSeconds + 365 * 86_400;
    const yearly = givenItem('add', { current_period_start: startSeconds, current_period_end: yearEnd });
    const first = invoice(
      6000,
      [givenLine('add', 5000, { period: { start: startSeconds, end: yearEnd } }), givenLine('base', 1000)],
      { id: 'in_1', created: startSeconds, billing_reason: 'subscription_create' },
    );
    const renewal = invoice(1000, [givenLine('base', 1000)]);
    const state = { items: { data: [givenItem('base'), yearly] } };
    const [base, add] = observeItems(state, { invoices: [renewal, first] });
    expect(base?.transactions).toHaveLength(2);
    expect(base?.purchase).toMatchObject({ expirationDate: periodEnd * 1000, lastRenewalDate: periodStart * 1000 });
    expect(add?.transactions).toMatchObject([{ transactionId: 'processor_a:in_1:si_add', amountMicros: 50_000_000 }]);
    expect(add?.purchase).toMatchObject({ expirationDate: yearEnd * 1000, purchaseDate: startSeconds * 1000 });
    expect(add?.purchase).not.toHaveProperty('lastRenewalDate');
  });

  it('keeps a paid item while the payment of a different interval is overdue', () => {
    const unpaid = invoice(0, [givenLine('base', 1000)], { id: 'in_4', status: 'open' });
    const state = { status: 'past_due', latest_invoice: unpaid, items };
    const [base, add] = observeItems(state, { invoices: [] });
    expect(base?.purchase.isBillingRetryPeriod).toBe(true);
    expect(add?.purchase).toMatchObject({ isBillingRetryPeriod: false, expirationDate: periodEnd * 1000 });
  });

  it('splits a partial refund, and a full refund ends every item of the invoice', () => {
    const refund = (state: object) => ({ items, charges: [givenCharge({ amount: 1500, ...state })] });
    const invoices = [invoice(1500, bothLines)];
    const part = { refunds: { data: [givenRefund({ amount: 100 })] } };
    const parts = observeItems({ items }, { invoices, ...refund(part) });
    expect(parts.map(({ transactions }) => transactions[0]?.partialRefunds?.[0]?.amountMicros)).toEqual([
      670_000, 330_000,
    ]);
    const full = { refunded: true, refunds: { data: [givenRefund({ amount: 1500 })] } };
    const ends = observeItems({ items }, { invoices, ...refund(full) });
    expect(ends.map(({ purchase }) => purchase.endedAt)).toEqual([periodStart * 1000, periodStart * 1000]);
  });

  const middle = periodStart + 86_400;
  it('ends a removed item when its rest was credited, otherwise with its paid period', () => {
    const state = { items: { data: [givenItem('base')] } };
    const credit = invoice(0, [givenProration('add', -400, middle)], { id: 'in_4', created: middle });
    const [base, add] = observeItems(state, { invoices: [invoice(1500, bothLines), credit] });
    expect(base?.purchase).toMatchObject({ expirationDate: periodEnd * 1000, renewalIntent: 'Renew' });
    expect(add?.purchase).toMatchObject({
      purchaseId: 'processor_a:sub_1:si_add',
      transactionId: 'processor_a:in_3:si_add',
      expirationDate: middle * 1000,
      renewalIntent: 'Lapse',
      cancelationReason: 'Unknown',
    });
    const [, kept] = observeItems(state, { invoices: [invoice(1500, bothLines)] });
    expect(kept?.purchase).toMatchObject({ expirationDate: periodEnd * 1000, renewalIntent: 'Lapse' });
    expect(kept?.purchase).not.toHaveProperty('cancelationReason');
    const pausedAt = middle + 3600;
    const pause = { status: 'paused', status_details: { paused: { transitioned_at: pausedAt } } };
    const [, ended] = observeItems({ ...state, ...pause }, { invoices: [invoice(1500, bothLines)] });
    expect(ended?.purchase).toMatchObject({ expirationDate: pausedAt * 1000, cancelationReason: 'Unknown' });
    expect(ended?.purchase).not.toHaveProperty('isPaused');
  });

  it.each([
    ['with a credit', [givenProration('new', 900, middle), givenProration('base', -500, middle)]],
    ['without a credit', [givenProration('new', 900, middle)]],
  ])('continues the purchase if another item replaces the item %s', (_title, lines) => {
    const state = { items: { data: [givenItem('new', { created: middle })] } };
    const change = invoice(400, lines, { id: 'in_4', created: middle, billing_reason: 'subscription_update' });
    const invoices = [invoice(1000, [givenLine('base', 1000)]), change];
    expect(read(state, { invoices })).toEqual([
      {
        id: 'sub_1',
        product: 'new',
        paid: [
          ['base', 1000],
          ['new', 400],
        ],
      },
    ]);
  });

  it('continues each purchase if its item gets another price', () => {
    const changed = givenItem('add', { price: { ...givenItem('other').price } });
    const state = { items: { data: [givenItem('base'), changed] } };
    expect(read(state, { invoices: [invoice(1500, bothLines)] })).toEqual([
      { id: 'sub_1', product: 'base', paid: [['base', 1000]] },
      { id: 'sub_1:si_add', product: 'other', paid: [['add', 500]] },
    ]);
  });
});

describe('toSubscriptionObservations: trial offers of items', () => {
  const trialEnd = Date.parse('2027-03-15T00:00:00Z') / 1000;
  const laterEnd = Date.parse('2027-03-20T00:00:00Z') / 1000;
  const givenTrial = (id: string, end_date: number) =>
    givenItem(id, { current_period_end: end_date, current_trial: { start_date: periodStart, end_date } });
  const trialLine = (id: string, amount: number, end: number) =>
    givenLine(id, amount, { period: { start: periodStart, end } });
  const observeTrials = (state: object, lines: readonly object[]) =>
    observeItems(state as never, { invoices: [invoice(1100, lines)] }).map(({ purchase, transactions }) => [
      purchase.isTrialPeriod,
      purchase.isIntroPeriod,
      (purchase.expirationDate ?? 0) / 1000,
      transactions[0]?.isTrialPeriod,
      transactions[0]?.isIntroPeriod,
      (transactions[0]?.expirationDate ?? 0) / 1000,
    ]);
  const regular = [false, undefined, periodEnd, undefined, undefined, periodEnd];
  const free = (end: number) => [true, undefined, end, true, undefined, end];
  const paid = (end: number) => [false, true, end, undefined, true, end];
  const withTrial = { items: { data: [givenItem('base'), givenTrial('add', trialEnd)] } };
  const baseLine = givenLine('base', 1000);

  it('reports the free trial of an item of an active subscription', () => {
    const lines = [trialLine('add', 0, trialEnd), baseLine];
    expect(observeTrials(withTrial, lines)).toEqual([regular, free(trialEnd)]);
  });

  it('reports a trial with a price as an introductory period', () => {
    const lines = [trialLine('add', 100, trialEnd), baseLine];
    expect(observeTrials(withTrial, lines)).toEqual([regular, paid(trialEnd)]);
  });

  it('gives each item of a trialing subscription its own end', () => {
    const data = [givenTrial('base', laterEnd), givenTrial('add', trialEnd)];
    const lines = [trialLine('add', 0, trialEnd), trialLine('base', 0, laterEnd)];
    for (const dates of [{}, { trial_start: periodStart, trial_end: laterEnd }]) {
      const state = { status: 'trialing', items: { data }, ...dates };
      expect(observeTrials(state, lines)).toEqual([free(laterEnd), free(trialEnd)]);
    }
  });

  it.each([
    [0, true, undefined],
    [100, undefined, true],
  ])(
    'gives access by the period after a trial with the price %i that the item still names',
    (amount, isTrial, isIntro) => {
      const period = { current_period_start: trialEnd, current_period_end: periodEnd };
      const data = [{ ...givenTrial('base', trialEnd), ...period }];
      const later = { period: { start: trialEnd, end: periodEnd } };
      const invoices = [
        invoice(amount, [trialLine('base', amount, trialEnd)]),
        invoice(1000, [givenLine('base', 1000, later)], { id: 'in_4', created: trialEnd }),
      ];
      const { purchase, transactions } = observe({ items: { data } } as never, { invoices });
      expect(purchase).toMatchObject({ isTrialPeriod: false, expirationDate: periodEnd * 1000 });
      expect(purchase).not.toHaveProperty('isIntroPeriod');
      expect(transactions.map(({ isTrialPeriod, isIntroPeriod }) => [isTrialPeriod, isIntroPeriod])).toEqual([
        [isTrial, isIntro],
        [undefined, undefined],
      ]);
    },
  );

  it('leaves the payment of the same item before its trial as it is', () => {
    const earlier = invoice(500, [givenLine('base', 500, { period: { start: startSeconds, end: periodStart } })], {
      id: 'in_1',
      created: startSeconds,
      status_transitions: { paid_at: startSeconds },
    });
    const invoices = [earlier, invoice(0, [trialLine('base', 0, trialEnd)])];
    const items = { data: [givenTrial('base', trialEnd)] };
    const { transactions } = observe({ items, status: 'trialing' } as never, { invoices });
    expect(transactions.map(({ isTrialPeriod }) => isTrialPeriod)).toEqual([undefined, true]);
  });
});

describe('toSubscriptionObservations: ends and intents', () => {
  const zero = invoice(0, [givenLine('base', 0)], { id: 'in_4', created: periodStart + 500, payments: null });
  const refunded = givenCharge({ refunded: true, refunds: { data: [givenRefund({ amount: 998 })] } });

  it('ends the access when the payment of the period was refunded, even after an invoice over 0', () => {
    const invoices = [givenInvoice(), zero];
    expect(observe({}, { invoices, charges: [refunded] }).purchase.endedAt).toBe(periodStart * 1000);
  });

  it.each([
    ['in a later period', periodEnd + 86_400, 'Renew', periodEnd],
    ['at the end of the period', periodEnd, 'Lapse', periodEnd],
    ['within the period', periodEnd - 86_400, 'Lapse', periodEnd - 86_400],
  ])('maps a cancelation %s', (_title, cancel_at, renewalIntent, end) => {
    const { purchase } = observe({ cancel_at, canceled_at: periodStart });
    expect(purchase).toMatchObject({ renewalIntent, expirationDate: end * 1000 });
  });

  it('keeps the payment of a period that was billed in advance', () => {
    const ahead = givenLine('base', 998, { period: { start: periodEnd, end: periodEnd + 86_400 } });
    const { transactions, purchase } = observe({}, { invoices: [invoice(1996, [givenLine('base', 998), ahead])] });
    expect(transactions).toMatchObject([{ amountMicros: 19_960_000 }]);
    expect(purchase.expirationDate).toBe(periodEnd * 1000);
    const next = invoice(998, [ahead], { id: 'in_4', created: periodEnd });
    expect(observe({}, { invoices: [next] }).transactions).toEqual([]);
  });
});

describe('toSubscriptionObservations: disputes', () => {
  const withdrawal = { amount: -998, created: periodStart + 60 };
  const givenOwnDispute = (state: object) => ({
    id: 'dp_3',
    status: 'needs_response',
    created: periodStart,
    charge: 'ch_3',
    amount: 998,
    currency: 'usd',
    balance_transactions: [withdrawal],
    ...state,
  });
  const money = { id: 'dp_3', date: (periodStart + 60) * 1000, amountMicros: 9_980_000 };
  const lostAt = money.date;

  it.each<[string, object, object]>([
    ['an inquiry', { status: 'warning_needs_response', balance_transactions: [] }, {}],
    ['an open dispute', {}, { partialRefunds: [{ ...money, status: 'disputed' }] }],
    [
      'a lost dispute',
      { status: 'lost' },
      { partialRefunds: [{ ...money, status: 'disputed' }], refundedAt: lostAt, endedAt: lostAt },
    ],
    [
      'a dispute that was resolved by a refund before it was raised',
      { status: 'prevented' },
      { partialRefunds: [{ ...money, status: 'disputed' }], refundedAt: lostAt, endedAt: lostAt },
    ],
    ['a dispute that was blocked before it was raised', { status: 'prevented', balance_transactions: [] }, {}],
    [
      'a lost dispute about a part',
      { status: 'lost', amount: 500 },
      { partialRefunds: [{ ...money, amountMicros: 5_000_000 }] },
    ],
    ...['appeal_needs_response', 'appeal_under_review'].map((status): [string, object, object] => [
      `a lost dispute with the status ${status}`,
      { status },
      { partialRefunds: [{ ...money, status: 'disputed' }], refundedAt: lostAt, endedAt: lostAt },
    ]),
    [
      'a lost dispute in another currency',
      { status: 'lost', amount: 900, currency: 'eur' },
      { partialRefunds: [{ ...money, status: 'disputed' }], refundedAt: lostAt, endedAt: lostAt },
    ],
    [
      'a dispute that was won in part, which has the status lost',
      { status: 'lost', balance_transactions: [withdrawal, { amount: 499, created: periodStart + 90 }] },
      {
        partialRefunds: [
          { ...money, status: 'returned' },
          { ...money, id: 'dp_3:lost', amountMicros: 4_990_000 },
        ],
      },
    ],
    ['a won dispute', { status: 'won' }, { partialRefunds: [{ ...money, status: 'returned' }] }],
    [
      'a dispute whose funds were returned',
      { status: 'prevented', balance_transactions: [withdrawal, { amount: 998, created: periodStart + 90 }] },
      { partialRefunds: [{ ...money, status: 'returned' }] },
    ],
  ])('maps the money of %s', (_title, state, expected) => {
    const charges = [givenCharge({ disputed: true })];
    const { purchase, transactions } = observe({}, { charges, disputes: [givenOwnDispute(state)] });
    const [{ refundedAt, partialRefunds } = {}] = transactions;
    expect({ refundedAt, partialRefunds, endedAt: purchase.endedAt }).toEqual({
      refundedAt: undefined,
      partialRefunds: undefined,
      endedAt: undefined,
      ...expected,
    });
  });

  it('ends access with lost disputes about all parts of a payment', () => {
    const charges = [givenCharge({ disputed: true })];
    const disputes = [
      givenOwnDispute({ status: 'lost', amount: 500 }),
      givenOwnDispute({
        id: 'dp_4',
        status: 'lost',
        amount: 498,
        balance_transactions: [{ amount: -498, created: periodStart + 120 }],
      }),
    ];
    const { purchase, transactions } = observe({}, { charges, disputes });
    expect(purchase.endedAt).toBe((periodStart + 120) * 1000);
    expect(transactions[0]?.refundedAt).toBe((periodStart + 120) * 1000);
  });

  it('refunds a payment if the rest after a partial refund is lost, and the refund is returned', () => {
    const charges = [givenCharge({ disputed: true, refunds: { data: [givenRefund({ amount: 300 })] } })];
    const balances = [withdrawal, { amount: 300, created: periodStart + 90 }];
    const lost = givenOwnDispute({ status: 'lost', balance_transactions: balances });
    const [transaction] = observe({}, { charges, disputes: [lost] }).transactions;
    expect(transaction?.refundedAt).toBe(lostAt);
    const amounts = listRefundedAmounts(transaction as Transaction).map(({ amountMicros }) => amountMicros);
    expect(amounts).toEqual([3_000_000, 6_980_000, 0]);
  });
});
