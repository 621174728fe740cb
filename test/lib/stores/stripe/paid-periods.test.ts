import { describe, expect, it } from '@jest/globals';
import type * as v from 'valibot';
import { findLifecycleReasons } from '../../../../lib/purchases/lifecycle-reasons.ts';
import { merge } from '../../../../lib/purchases/merge.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { computeMonthlyAmounts } from '../../../../lib/purchases/payment-amounts.ts';
import { listRefundedAmounts, listRefundKeys } from '../../../../lib/purchases/refunds.ts';
import type { Transaction } from '../../../../lib/purchases/transaction.ts';
import type {
  Charge,
  CreditNote,
  Invoice,
  PaymentRecord,
  Subscription,
} from '../../../../lib/stores/stripe/payloads.ts';
import { listProratedPriceIds } from '../../../../lib/stores/stripe/plan-price.ts';
import { listUsedTrials } from '../../../../lib/stores/used-trials.ts';
import {
  context,
  givenCharge,
  givenCreditNote,
  givenDispute,
  givenInvoice,
  givenPaymentRecord,
  givenPrice,
  givenRefund,
  givenSubscription,
  observe,
  observeItems,
} from './stripe-fixtures.ts';

const seconds = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1000;
const toDay = (date: number | undefined): string | undefined =>
  date === undefined ? undefined : new Date(date).toISOString().slice(0, 10);

interface LineInput {
  readonly amount: number;
  readonly start: string;
  readonly end: string;
  readonly kind?: 'whole' | 'proration' | 'fee';
  readonly product?: string;
  readonly quantity?: number;
  readonly discount?: number;
  /** Tax of the rate of the account. */
  readonly tax?: readonly [amount: number, behavior: 'exclusive' | 'inclusive'];
}

const toLine = ({ amount, start, end, kind = 'whole', product = 'pro', quantity = 1, discount, tax }: LineInput) => ({
  amount,
  quantity,
  discount_amounts: discount === undefined ? [] : [{ amount: discount }],
  taxes: tax ? [{ amount: tax[0], tax_behavior: tax[1], tax_rate_details: { tax_rate: 'txr_1' } }] : [],
  period: { start: seconds(start), end: seconds(end) },
  parent:
    kind === 'fee'
      ? { invoice_item_details: { proration: false } }
      : { subscription_item_details: { proration: kind === 'proration', subscription_item: 'si_1' } },
  pricing: { price_details: { price: `price_${product}`, product: `prod_${product}` } },
});

type InvoiceState = Partial<v.InferInput<typeof Invoice>>;

/** An invoice, by default of a cycle and paid at its creation by the payment `pi_<number>`. */
function bill(number: number, created: string, lines: readonly LineInput[], state: InvoiceState = {}): Invoice {
  const isPaid = (state.status ?? 'paid') === 'paid';
  return givenInvoice({
    id: `in_${number}`,
    created: seconds(created),
    amount_paid: isPaid
      ? Math.max(
          0,
          lines.reduce((sum, { amount }) => sum + amount, 0),
        )
      : 0,
    status_transitions: { paid_at: isPaid ? seconds(created) : null },
    lines: { data: lines.map(toLine) },
    total_taxes: lines.flatMap(({ tax }) => (tax ? [{ amount: tax[0] }] : [])),
    payments: { data: [{ status: isPaid ? 'paid' : 'open', payment: { payment_intent: `pi_${number}` } }] },
    ...state,
  });
}

const months = ['2027-01-01', '2027-02-01', '2027-03-01', '2027-04-01'] as const;

/** The invoice of a month: `1` bills January. */
const month = (number: 1 | 2 | 3, state: InvoiceState = {}): Invoice =>
  bill(
    number,
    months[number - 1] ?? '',
    [{ amount: 1000, start: months[number - 1] ?? '', end: months[number] ?? '' }],
    {
      ...(number === 1 && { billing_reason: 'subscription_create' }),
      ...state,
    },
  );

interface SubscriptionInput extends Partial<v.InferInput<typeof Subscription>> {
  readonly period?: readonly [start: string, end: string];
  readonly price?: object;
}

function subscribe({ period = [months[1], months[2]], price = {}, ...state }: SubscriptionInput) {
  const [item] = givenSubscription().items.data;
  const [current_period_start, current_period_end] = period.map(seconds) as [number, number];
  const terms = { ...item?.price, id: 'price_pro', product: 'prod_pro', unit_amount: 1000, ...price };
  return {
    items: { data: [{ ...item, id: 'si_1', quantity: 1, current_period_start, current_period_end, price: terms }] },
    latest_invoice: null,
    ...state,
  } as never;
}

interface Look {
  readonly at: string;
  readonly subscription?: SubscriptionInput;
  readonly invoices: readonly Invoice[];
  readonly charges?: readonly Charge[];
  /** Amounts of other prices by id. */
  readonly prices?: Readonly<Record<string, number>>;
}

/** A debit that failed. */
const failed = (payment_intent: string, day: string) =>
  givenCharge({ id: 'ch_2', payment_intent, paid: false, status: 'failed', created: seconds(day) });

/** The charge of `pi_<id>`, of which an amount, by default all of it, was refunded as `re_<id>`. */
const refundCharge = (
  id: number | string,
  day: string,
  { amount = 1000, returned = amount }: { amount?: number; returned?: number } = {},
) =>
  givenCharge({
    id: `ch_${id}`,
    payment_intent: `pi_${id}`,
    amount,
    refunded: returned === amount,
    refunds: { data: [givenRefund({ id: `re_${id}`, amount: returned, created: seconds(day) })] },
  });

/** A proration of the rest of February. */
const restFrom = (start: string, amount: number, more: Partial<LineInput> = {}): LineInput => ({
  amount,
  start,
  end: '2027-03-01',
  kind: 'proration',
  ...more,
});

/** A period of February, by default for 10 USD. */
const february = (more: Partial<LineInput> = {}): LineInput => ({
  amount: 1000,
  start: months[1],
  end: months[2],
  ...more,
});

/** An invoice of a change of the plan or of the seats. */
const change = (number: number, created: string, lines: readonly LineInput[], state: InvoiceState = {}): Invoice =>
  bill(number, created, lines, { billing_reason: 'subscription_update', ...state });

/** The other plan of the tests. */
const max = { id: 'price_max', product: 'prod_max', unit_amount: 2000 };

/** The reversals of a transaction, and the end of access. */
const readReversals = ({ purchase, transactions: [, transaction] }: Observation) => ({
  ended: toDay(purchase.endedAt),
  refunded: toDay(transaction?.refundedAt),
  parts: (transaction?.partialRefunds ?? []).map(({ id, amountMicros = 0, status }) => [
    id,
    amountMicros / 10_000,
    status,
  ]),
});
const kept = { ended: undefined, refunded: undefined };

const seen = (
  at: string,
  subscription: SubscriptionInput,
  invoices: readonly Invoice[],
  more: Pick<Look, 'charges' | 'prices'> = {},
): Look => ({ at, subscription, invoices, ...more });

const look = ({ at, subscription = {}, invoices, charges = [], prices = {} }: Look): Observation => {
  const listed = Object.entries(prices).map(([id, unit_amount]) => [id, givenPrice({ id, unit_amount })] as const);
  const mapping = { ...context, now: seconds(at) * 1000, pastPrices: new Map(listed) };
  return observe(subscribe(subscription), { invoices, charges, mapping });
};

/** The dates of a purchase after one refresh. */
const readAccess = (input: Look) => {
  const { purchase } = look(input);
  const { expirationDate, endedAt, isBillingRetryPeriod, cancelationReason } = purchase;
  return { until: toDay(expirationDate), ended: toDay(endedAt), isBillingRetryPeriod, cancelationReason };
};

/** The reasons that several refreshes announce, one after the other. */
function announce(looks: readonly Look[]): string[] {
  let before: { state: ReturnType<typeof merge>; at: number } | undefined;
  return looks.map((input) => {
    const { refreshToken: _token, ...observation } = look(input);
    const after = { state: merge(before?.state, observation), at: seconds(input.at) * 1000 };
    const reasons = findLifecycleReasons(before, after);
    before = after;
    return reasons.join('+');
  });
}

describe('payments of an invoice (Stripe)', () => {
  const payments = ['a', 'b'].map((id) => ({
    status: 'paid',
    payment: { payment_intent: `pi_${id}` },
    amount_paid: 500,
  }));
  const invoice = month(2, { payments: { data: payments } });
  const charge = (id: string, state: object = {}) =>
    givenCharge({ id: `ch_${id}`, payment_intent: `pi_${id}`, amount: 500, created: seconds('2027-02-01'), ...state });
  const refunded = (id: string, day: string) => refundCharge(id, day, { amount: 500 });
  const read = (charges: readonly Charge[], disputes: Parameters<typeof observe>[1] = {}) =>
    readReversals(observe(subscribe({}), { invoices: [month(1), invoice], charges, ...disputes }));

  it.each(['a', 'b'])('return their part if one of two is refunded, and access stays: %s', (id) => {
    const charges = ['a', 'b'].map((other) => (other === id ? refunded(id, '2027-02-05') : charge(other)));
    expect(read(charges)).toEqual({ ...kept, parts: [[`re_${id}`, 500, undefined]] });
  });

  it('become the full refund together, at the date of the last one', () => {
    const charges = [refunded('a', '2027-02-07'), refunded('b', '2027-02-05')];
    expect(read(charges)).toEqual({ ended: '2027-02-07', refunded: '2027-02-07', parts: [['re_b', 500, undefined]] });
  });

  it('return their part if a dispute of one of two is lost', () => {
    const disputes = [givenDispute({ status: 'lost', charge: 'ch_a', amount: 500, created: seconds('2027-02-05') })];
    expect(read([charge('a', { disputed: true }), charge('b')], { disputes })).toEqual({
      ...kept,
      parts: [['dp_3', 500, undefined]],
    });
  });

  it('return the part of the invoice if their charge paid another invoice, too', () => {
    const shared = month(2, { payments: { data: [{ ...payments[0], amount_paid: 1000 }] } as never });
    const paid = charge('a', { amount: 4000, refunds: { data: [givenRefund({ amount: 2000 })] } });
    const { transactions } = observe(subscribe({}), { invoices: [shared], charges: [paid] });
    expect(transactions[0]?.partialRefunds).toMatchObject([{ amountMicros: 5_000_000 }]);
  });

  it('do not include a payment that was canceled or not made', () => {
    const canceled = { status: 'canceled', payment: { payment_intent: 'pi_b' } };
    const single = month(2, { payments: { data: [payments[0], canceled] } as never });
    const charges = [refunded('a', '2027-02-05')];
    expect(observe(subscribe({}), { invoices: [single], charges }).purchase.endedAt).toBe(seconds('2027-02-05') * 1000);
  });
});

describe('credit note of an invoice (Stripe)', () => {
  const note = (number: number, amount: number | null, day: string, state: object = {}) =>
    givenCreditNote({ id: `cn_${number}`, out_of_band_amount: amount, created: seconds(day), ...state });
  const record = { type: 'payment_record_refund', amount_refunded: 300 };
  const refundedCharge = (returned: number) => refundCharge(2, '2027-02-04', { returned });
  const paidOutside = { payments: { data: [] } };
  const read = (creditNotes: readonly CreditNote[], charges: readonly Charge[] = [], state: InvoiceState = {}) =>
    readReversals(observe(subscribe({}), { invoices: [month(1), month(2, state)], charges, creditNotes }));
  const returned = (day: string, parts: ReturnType<typeof read>['parts'] = []) => ({
    ended: day,
    refunded: day,
    parts,
  });

  it.each<[string, ReturnType<typeof read>, Parameters<typeof read>]>([
    ['all of it outside of Stripe', returned('2027-02-05'), [[note(1, 1000, '2027-02-05')]]],
    ['a payment outside of Stripe', returned('2027-02-05'), [[note(1, 1000, '2027-02-05')], [], paidOutside]],
    ['a part of it', { ...kept, parts: [['cn_1', 400, undefined]] }, [[note(1, 400, '2027-02-05')]]],
    [
      'it in two parts',
      returned('2027-02-07', [['cn_1', 400, undefined]]),
      [[note(2, 600, '2027-02-07'), note(1, 400, '2027-02-05')]],
    ],
    [
      'the rest after a refund',
      returned('2027-02-05', [['re_2', 300, undefined]]),
      [[note(1, 700, '2027-02-05')], [refundedCharge(300)]],
    ],
    [
      'a part before the refund of the rest',
      returned('2027-02-04', [['cn_1', 700, undefined]]),
      [[note(1, 700, '2027-02-03')], [refundedCharge(300)]],
    ],
    [
      'the refund of a payment record',
      { ...kept, parts: [['cn_1', 300, undefined]] },
      [[note(1, null, '2027-02-05', { refunds: [record] })]],
    ],
    ['the balance of the customer', { ...kept, parts: [] }, [[note(1, null, '2027-02-05')]]],
    ['a refund of Stripe', returned('2027-02-04'), [[note(1, null, '2027-02-05')], [refundedCharge(1000)]]],
    [
      'nothing, because it is void',
      { ...kept, parts: [['cn_1', 1000, 'returned']] },
      [[note(1, 1000, '2027-02-05', { status: 'void' })]],
    ],
    ['another invoice', { ...kept, parts: [] }, [[note(1, 1000, '2027-02-05', { invoice: 'in_9' })]]],
  ])('returns %s', (_title, expected, input) => {
    expect(read(...input)).toEqual(expected);
  });

  it('returns the parts of the items of the invoice', () => {
    const items = ['si_1', 'si_2'].map((id) => ({ ...givenSubscription().items.data[0], id }));
    const lines = ['si_1', 'si_2'].map((subscription_item, index) => ({
      ...givenInvoice().lines.data[0],
      amount: (index + 1) * 100,
      parent: { subscription_item_details: { proration: false, subscription_item } },
    }));
    const invoice = givenInvoice({ amount_paid: 300, lines: { data: lines } as never });
    const creditNotes = [givenCreditNote({ invoice: 'in_3', out_of_band_amount: 150 })];
    const observations = observeItems({ items: { data: items } as never }, { invoices: [invoice], creditNotes });
    expect(observations.map(({ transactions }) => transactions[0]?.partialRefunds)).toMatchObject([
      [{ amountMicros: 500_000 }],
      [{ amountMicros: 1_000_000 }],
    ]);
  });
});

describe('a refund that a payment record reports', () => {
  const payment = { status: 'paid', payment: { payment_record: 'pr_1' }, amount_paid: 1000 };
  const refunded = (value: number, state: object = {}) => givenPaymentRecord({ amount_refunded: { value }, ...state });
  const note = (number: number, amount: number, day: string) =>
    givenCreditNote({ id: `cn_${number}`, out_of_band_amount: amount, created: seconds(day) });
  interface RecordLook {
    readonly records: readonly PaymentRecord[];
    readonly creditNotes?: readonly CreditNote[];
    readonly paid?: object;
  }
  const lookAt = (day: string, { records: paymentRecords, creditNotes = [], paid = {} }: RecordLook) => {
    const payments = { data: [{ ...payment, ...paid }] };
    const invoices = [month(1), month(2, { payments } as InvoiceState)];
    const mapping = { ...context, now: seconds(day) * 1000 };
    const { refreshToken: _token, ...seenThen } = observe(subscribe({}), {
      invoices,
      paymentRecords,
      creditNotes,
      mapping,
    });
    return seenThen;
  };
  /** The state after several looks, and the sums of its refunds by day. */
  const read = (looks: readonly (readonly [day: string, look: RecordLook])[]) => {
    const states = looks.map(([day, input]) => lookAt(day, input));
    const state = states.reduce<ReturnType<typeof merge> | undefined>(merge, undefined);
    const transaction = state?.transactions[1]?.transaction as Transaction;
    const refunds = listRefundedAmounts(transaction).map(({ date, amountMicros = 0 }) => [
      toDay(date),
      amountMicros / 10_000,
    ]);
    return { ended: toDay(state?.purchase.endedAt), refunded: toDay(transaction.refundedAt), refunds };
  };
  const returned = (day: string) => ({ ended: day, refunded: day });

  it.each<[string, ReturnType<typeof read>, Parameters<typeof read>[0]]>([
    ['nothing', { ...kept, refunds: [] }, [['2027-02-05', { records: [refunded(0)] }]]],
    [
      'a part, which has the day on which it was first seen',
      { ...kept, refunds: [['2027-02-05', 300]] },
      [
        ['2027-02-05', { records: [refunded(300)] }],
        ['2027-02-06', { records: [refunded(300)] }],
      ],
    ],
    [
      'the payment, and ends the access on the day on which it was first seen',
      { ...returned('2027-02-05'), refunds: [['2027-02-05', 1000]] },
      [
        ['2027-02-05', { records: [refunded(1000)] }],
        ['2027-02-09', { records: [refunded(1000)] }],
      ],
    ],
    [
      'the rest after a part',
      {
        ...returned('2027-02-07'),
        refunds: [
          ['2027-02-05', 300],
          ['2027-02-07', 700],
        ],
      },
      [
        ['2027-02-05', { records: [refunded(300)] }],
        ['2027-02-07', { records: [refunded(1000)] }],
        ['2027-02-09', { records: [refunded(1000)] }],
      ],
    ],
    [
      'what the credit note returns, once',
      { ...kept, refunds: [['2027-02-05', 300]] },
      [['2027-02-06', { records: [refunded(300)], creditNotes: [note(1, 300, '2027-02-05')] }]],
    ],
    [
      'what a later credit note returns, once',
      { ...kept, refunds: [['2027-02-07', 300]] },
      [
        ['2027-02-05', { records: [refunded(300)] }],
        ['2027-02-08', { records: [refunded(300)], creditNotes: [note(1, 300, '2027-02-07')] }],
      ],
    ],
    [
      'more than its credit note returns',
      {
        ...kept,
        refunds: [
          ['2027-02-05', 300],
          ['2027-02-08', 200],
        ],
      },
      [['2027-02-08', { records: [refunded(500)], creditNotes: [note(1, 300, '2027-02-05')] }]],
    ],
    [
      'the payment that a later credit note returns, too, on the day on which it was first seen',
      { ...returned('2027-02-05'), refunds: [['2027-02-05', 1000]] },
      [
        ['2027-02-05', { records: [refunded(1000)] }],
        ['2027-02-08', { records: [refunded(1000)], creditNotes: [note(1, 1000, '2027-02-07')] }],
      ],
    ],
    [
      'the part of an invoice if the record paid another one, too',
      { ...kept, refunds: [['2027-02-05', 250]] },
      [['2027-02-05', { records: [refunded(1000, { amount: { value: 4000 } })] }]],
    ],
    [
      'nothing of a record that cannot be read',
      { ...kept, refunds: [] },
      [['2027-02-05', { records: [], paid: { payment: { payment_record: 'pr_9' } } }]],
    ],
  ])('returns %s', (_title, expected, looks) => {
    expect(read(looks)).toEqual(expected);
  });

  it.each<[string, readonly string[]]>([
    ['after a change that its credit pays', ['2027-02-20', '2027-02-22']],
    ['before a change that its credit pays', ['2027-02-10', '2027-02-20', '2027-02-22']],
  ])('ends the access on the day on which it was first seen: %s', (_title, days) => {
    const lines = [
      restFrom('2027-02-15', -500),
      { amount: 400, start: '2027-02-15', end: '2027-03-15', product: 'basic' },
    ];
    const update = change(3, '2027-02-15', lines, { amount_paid: 0 });
    const states = days.map((day) => {
      const isChanged = day >= '2027-02-15';
      const { refreshToken: _token, ...state } = observe(
        subscribe(isChanged ? { period: ['2027-02-15', '2027-03-15'] } : {}),
        {
          invoices: [month(2, { payments: { data: [payment] } } as InvoiceState), ...(isChanged ? [update] : [])],
          paymentRecords: [refunded(1000)],
          mapping: { ...context, now: seconds(day) * 1000 },
        },
      );
      return state;
    });
    const ended = states.map((_state, index) =>
      toDay(
        states.slice(0, index + 1).reduce<ReturnType<typeof merge> | undefined>(merge, undefined)?.purchase.endedAt,
      ),
    );
    expect(ended).toEqual(days.map(() => days[0]));
    const changes = states.flatMap(({ transactions }) => transactions.slice(1));
    expect(changes.map(({ expirationDate }) => toDay(expirationDate))).toEqual(['2027-03-15', '2027-03-15']);
  });

  it('returns each later part, which is announced', () => {
    const looks = [300, 300, 500].map((value, index) => {
      const { transactions } = lookAt(`2027-02-0${index + 5}`, { records: [refunded(value)] });
      return listRefundKeys(transactions);
    });
    expect(looks[1]).toEqual(looks[0]);
    expect(looks[2]).not.toEqual(looks[0]);
  });
});

describe('payment of a part of an invoice (Stripe)', () => {
  const parts = (state: InvoiceState) => {
    const payment = { payment: { payment_intent: 'pi_2' }, amount_paid: 400 };
    const paid = { ...payment, status: 'paid', status_transitions: { paid_at: seconds('2027-02-05') } };
    return month(2, { status: 'open', attempted: true, amount_paid: 400, payments: { data: [paid] }, ...state });
  };
  const open = seen('2027-02-06', { status: 'past_due' }, [month(1), parts({})]);

  it.each(['open', 'uncollectible', 'void'])(
    'counts as money that pays no period while the invoice is %s',
    (status) => {
      const { purchase, transactions } = look({ ...open, invoices: [month(1), parts({ status })] });
      expect(transactions[1]).toMatchObject({ amountMicros: 4_000_000, purchaseDate: seconds('2027-02-05') * 1000 });
      expect(transactions[1]).not.toHaveProperty('expirationDate');
      expect(purchase.transactionId).toBe('processor_a:in_1');
      if (status !== 'void') expect(toDay(purchase.expirationDate)).toBe('2027-02-08');
    },
  );

  it('renews nothing until the rest is paid, and can be refunded', () => {
    const charges = [refundCharge(2, '2027-02-06', { amount: 400 })];
    const { purchase, transactions } = look({ ...open, charges });
    expect(transactions[1]?.refundedAt).toBe(seconds('2027-02-06') * 1000);
    expect(purchase).not.toHaveProperty('endedAt');
    const paid = { status: 'paid', amount_paid: 1000, status_transitions: { paid_at: seconds('2027-02-07') } };
    expect(
      announce([
        seen('2027-01-02', { period: [months[0], months[1]] }, [month(1)]),
        seen('2027-02-02', { status: 'past_due' }, [month(1), month(2, { status: 'open' })]),
        open,
        seen('2027-02-07', {}, [month(1), parts(paid)]),
      ]),
    ).toEqual(['PURCHASED', 'ENTERED_GRACE_PERIOD', '', 'RENEWED']);
  });
});

describe('refund of an invoice (Stripe)', () => {
  const at = '2027-02-15';
  const fee = { amount: 2000, start: at, end: at, kind: 'fee' } as const;
  const extras: readonly [string, readonly LineInput[], string][] = [
    ['added seats', [restFrom(at, -500), restFrom(at, 2500, { quantity: 5 })], 'subscription_update'],
    ['a plan change', [restFrom(at, -500), restFrom(at, 2500, { product: 'max' })], 'subscription_update'],
    ['a fee', [fee], 'manual'],
    ['a usage threshold', [{ ...fee, kind: 'whole', start: '2027-02-01' }], 'subscription_threshold'],
  ];
  const refunded = (number: number) => [refundCharge(number, '2027-02-16', { amount: 2000 })];

  it.each(extras)('does not end the paid period if it bills %s', (_title, lines, billing_reason) => {
    const invoices = [month(1), month(2), bill(3, '2027-02-15', lines, { billing_reason })];
    const { purchase, transactions } = look(seen('2027-02-17', {}, invoices, { charges: refunded(3) }));
    expect(purchase).toMatchObject({ transactionId: 'processor_a:in_2', expirationDate: seconds('2027-03-01') * 1000 });
    expect(purchase).not.toHaveProperty('endedAt');
    expect(transactions[2]).toMatchObject({ amountMicros: 20_000_000, refundedAt: seconds('2027-02-16') * 1000 });
  });

  it.each(extras)(
    'ends the access if it is of the payment of the period, even after a refund for %s',
    (_title, lines, billing_reason) => {
      const invoices = [month(1), month(2), bill(3, '2027-02-15', lines, { billing_reason })];
      expect(readAccess(seen('2027-02-17', {}, invoices, { charges: refunded(2) })).ended).toBe('2027-02-16');
    },
  );

  it('ends the access if the last tier of the price is free', () => {
    const invoices = [bill(2, '2027-02-01', [february({ amount: 2000 }), february({ amount: 0, quantity: 9 })])];
    expect(readAccess(seen('2027-02-17', {}, invoices, { charges: refunded(2) })).ended).toBe('2027-02-16');
  });

  it('does not end a trial if it returns a fee on the same invoice', () => {
    const invoices = [bill(2, '2027-02-01', [fee, february({ amount: 0 })], { billing_reason: 'subscription_create' })];
    const subscription = { status: 'trialing', trial_end: seconds('2027-03-01') };
    const { purchase } = look(seen('2027-02-17', subscription, invoices, { charges: refunded(2) }));
    expect(purchase).not.toHaveProperty('endedAt');
  });
});

describe('refund of a payment before a period that the balance pays (Stripe)', () => {
  const rest = { start: '2027-01-11', end: '2027-02-01', kind: 'proration' } as const;
  const downgrade = bill(2, '2027-01-11', [
    { ...rest, amount: -680 },
    { ...rest, amount: 68, product: 'max' },
  ]);
  const cheap = february({ amount: 100, product: 'max' });
  const paidByBalance = bill(3, '2027-02-01', [cheap], { amount_paid: 0, payments: { data: [] } });
  const march = { ...cheap, start: '2027-03-01', end: '2027-04-01' };
  const nextByBalance = bill(4, '2027-03-01', [march], { amount_paid: 0, payments: { data: [] } });
  const read = (invoices: readonly Invoice[], period: readonly [string, string] = [months[1], months[2]]) => {
    const charges = [refundCharge(1, '2027-02-11')];
    const price = { ...max, unit_amount: 100 };
    const at = period[0] === months[1] ? '2027-02-12' : '2027-03-12';
    const { purchase, transactions } = look(seen(at, { period, price }, invoices, { charges }));
    return [toDay(purchase.endedAt), toDay(transactions.at(-1)?.expirationDate)];
  };

  it.each<[string, ReturnType<typeof read>, Parameters<typeof read>]>([
    ['ends it if a downgrade credited the rest', ['2027-02-11', '2027-02-11'], [[month(1), downgrade, paidByBalance]]],
    [
      'ends a later one',
      ['2027-02-11', undefined],
      [
        [month(1), downgrade, paidByBalance, nextByBalance],
        [months[2], months[3]],
      ],
    ],
    ['keeps it if the balance is not from the plan', [undefined, '2027-03-01'], [[month(1), paidByBalance]]],
    [
      'keeps it if a discount makes it free',
      [undefined, '2027-03-01'],
      [[month(1), downgrade, bill(3, '2027-02-01', [{ ...cheap, discount: 100 }], { amount_paid: 0 })]],
    ],
    [
      'keeps it if another payment was made since then',
      [undefined, '2027-04-01'],
      [
        [month(1), downgrade, bill(3, '2027-02-01', [cheap], { amount_paid: 30 }), nextByBalance],
        [months[2], months[3]],
      ],
    ],
  ])('%s', (_title, expected, input) => {
    expect(read(...input)).toEqual(expected);
  });
});

describe('first payment of an item (Stripe)', () => {
  const part = [restFrom('2027-02-15', 500)];
  const first = bill(1, '2027-02-15', part, { billing_reason: 'subscription_create' });
  const added = bill(2, '2027-02-20', [restFrom('2027-02-20', -340), restFrom('2027-02-20', 680, { quantity: 2 })]);
  const refund = (number: number) => refundCharge(number, '2027-02-21', { amount: 500 });
  const read = (charges: readonly Charge[]) => look(seen('2027-02-22', {}, [first, added], { charges: [...charges] }));

  it('pays the period that it bills in part, and its refund ends the access', () => {
    expect(toDay(read([]).purchase.expirationDate)).toBe('2027-03-01');
    expect(toDay(read([refund(1)]).purchase.endedAt)).toBe('2027-02-21');
    expect(read([refund(2)]).purchase).not.toHaveProperty('endedAt');
  });

  it('pays the rest of a period after a trial that ended early, and its refund ends the access', () => {
    const trial = bill(1, '2027-02-01', [{ amount: 0, start: '2027-02-01', end: '2027-02-20' }], {
      billing_reason: 'subscription_create',
    });
    const afterTrial = change(2, '2027-02-15', part);
    const subscription = { trial_start: seconds('2027-02-01'), trial_end: seconds('2027-02-15') };
    const readAfterTrial = (charges: readonly Charge[]) =>
      look(seen('2027-02-22', subscription, [trial, afterTrial], { charges }));
    expect(readAfterTrial([]).transactions).toMatchObject([{ isTrialPeriod: true }, { amountMicros: 5_000_000 }]);
    const { purchase } = readAfterTrial([refund(2)]);
    expect(toDay(purchase.endedAt)).toBe('2027-02-21');
    expect(purchase.transactionId).toBe('processor_a:in_2');
  });

  it('names the price of a whole period as its plan', () => {
    expect(read([]).transactions[0]?.plan).toEqual({ amountMicros: 10_000_000, period: 'P1M' });
  });
});

describe('paused subscription (Stripe)', () => {
  const trial = bill(1, '2027-01-01', [{ amount: 0, start: '2027-01-01', end: '2027-02-01' }]);
  const paused = (day: string) => ({
    status: 'paused',
    trial_start: seconds(months[0]),
    trial_end: seconds(months[1]),
    status_details: { paused: { transitioned_at: seconds(day) } },
  });

  it('ends with its pause, whenever its trial ended', () => {
    expect(readAccess(seen('2027-02-13', paused('2027-02-12'), [trial, month(2)])).until).toBe('2027-02-12');
  });

  it.each([
    ['first', '2027-02-01', '2027-02-01'],
    ['last', '2027-02-20', '2027-02-08'],
  ])('ends at the latest with the grace if it is paused after the %s failed payment', (_title, day, until) => {
    const charges = [failed('pi_2', '2027-02-01')];
    const input = seen('2027-02-21', paused(day), [trial, month(2, { status: 'open' })], { charges });
    expect(readAccess(input).until).toBe(until);
  });
});

describe('unpaid time of a subscription (Stripe)', () => {
  const open = { status: 'open' } as const;
  const inFebruary = { period: [months[1], months[2]], status: 'past_due' } as const;
  const activeInFebruary = { ...inFebruary, status: 'active' } as const;
  const inMarch = { period: [months[2], months[3]], status: 'past_due' } as const;
  const ended = { until: '2027-02-08', cancelationReason: 'System.BillingError' };
  const prorations = [restFrom('2027-02-05', -500), restFrom('2027-02-05', 700)];
  const changed = [month(1), month(2, open), bill(3, '2027-02-05', prorations)];
  const quarter = { amount: 2400, start: '2027-01-10', end: '2027-04-10', product: 'quarterly' } as const;
  const unpaidQuarter = bill(1, '2027-01-10', [quarter], open);
  const toMonthly = month(2, { billing_reason: 'subscription_update' });

  it.each<[string, Look]>([
    ['past due', seen('2027-02-20', inFebruary, [month(1), month(2, open)])],
    ['past due for months', seen('2027-03-03', inMarch, [month(1), month(2, open), month(3, open)])],
    ['past due with a draft', seen('2027-03-01', inMarch, [month(1), month(2, open), month(3, { status: 'draft' })])],
    ['past due without the invoices before', seen('2027-03-03', inMarch, [month(1), month(3, open)])],
    [
      'unpaid',
      seen('2027-03-03', { ...inMarch, status: 'unpaid' }, [month(1), month(2, open), month(3, { status: 'draft' })]),
    ],
    ['past due with a paid change of seats or plan', seen('2027-02-20', inFebruary, changed)],
    [
      'active with a paid change of seats or plan',
      seen('2027-02-20', activeInFebruary, changed, { charges: [failed('pi_2', '2027-02-01')] }),
    ],
    [
      'active with an uncollectible invoice',
      seen('2027-02-20', activeInFebruary, [month(1), month(2, { status: 'uncollectible', attempted: true })]),
    ],
    [
      'active with an uncollectible invoice that was emailed',
      seen('2027-02-20', activeInFebruary, [
        month(1),
        month(2, { status: 'uncollectible', attempted: false, due_date: seconds('2027-02-01') }),
      ]),
    ],
    [
      'active with an uncollectible invoice of the period before',
      seen('2027-03-01', { ...inMarch, status: 'active' }, [
        month(1),
        month(2, { status: 'uncollectible' }),
        month(3, { status: 'draft' }),
      ]),
    ],
    [
      'canceled because of it',
      seen(
        '2027-02-20',
        {
          ...inFebruary,
          status: 'canceled',
          ended_at: seconds('2027-02-15'),
          cancellation_details: { reason: 'payment_failed' },
        },
        [month(1), month(2, open)],
      ),
    ],
  ])('ends access with the grace of its first period: %s', (_title, input) => {
    expect(readAccess(input)).toMatchObject(ended);
  });

  it.each<[string, string, Look]>([
    [
      'is due later',
      '2027-02-23',
      seen('2027-02-17', inFebruary, [month(1), month(2, { ...open, due_date: seconds('2027-02-16') })]),
    ],
    [
      'failed later',
      '2027-02-13',
      seen('2027-02-17', inFebruary, [month(1), month(2, open)], { charges: [failed('pi_2', '2027-02-06')] }),
    ],
    [
      'was paid, but the next one is not',
      '2027-03-08',
      seen('2027-03-20', inMarch, [
        month(1),
        month(2, { status_transitions: { paid_at: seconds('2027-03-10') } }),
        month(3, open),
      ]),
    ],
    ['was void', '2027-03-08', seen('2027-03-20', inMarch, [month(1), month(2, { status: 'void' }), month(3, open)])],
  ])('starts when the invoice fails or is due: it %s', (_title, until, input) => {
    expect(readAccess(input).until).toBe(until);
  });

  it.each<[string, Look]>([
    ['its payment takes days', seen('2027-02-20', activeInFebruary, [month(1), month(2, open)])],
    ['it is a draft', seen('2027-02-01', activeInFebruary, [month(1), month(2, { status: 'draft' })])],
    [
      'collection was paused',
      seen('2027-02-20', activeInFebruary, [month(1), month(2, { status: 'uncollectible', attempted: false })]),
    ],
    [
      'a fee is unpaid',
      seen('2027-02-20', inFebruary, [
        month(1),
        month(2),
        bill(3, '2027-02-10', [{ amount: 500, start: '2027-02-10', end: '2027-02-10', kind: 'fee' }], open),
      ]),
    ],
    [
      'added seats are unpaid',
      seen('2027-02-20', inFebruary, [month(1), month(2), bill(3, '2027-02-10', [restFrom('2027-02-10', 500)], open)]),
    ],
    [
      'a usage threshold is unpaid',
      seen('2027-02-20', inFebruary, [
        month(1),
        month(2),
        bill(3, '2027-02-10', [{ amount: 500, start: '2027-02-01', end: '2027-02-10' }], {
          ...open,
          billing_reason: 'subscription_threshold',
        }),
      ]),
    ],
    [
      'an earlier plan, whose period would end later, is unpaid',
      seen('2027-02-20', activeInFebruary, [unpaidQuarter, toMonthly], {
        charges: [failed('pi_1', '2027-01-10')],
      }),
    ],
  ])('does not start in a period of which %s', (_title, input) => {
    expect(readAccess(input)).toMatchObject({ until: '2027-03-01', isBillingRetryPeriod: false });
  });

  it('does not start with an update to another period that failed and was not applied', () => {
    const yearly = { amount: 10_000, start: '2027-02-16', end: '2028-02-16', product: 'yearly' } as const;
    const update = (status: 'open' | 'void') => change(4, '2027-02-16', [yearly], { status });
    const charges = [failed('pi_4', '2027-02-16')];
    const pending = seen('2027-02-17', activeInFebruary, [month(1), month(2), update('open')], { charges });
    expect(readAccess(pending)).toMatchObject({ until: '2027-03-01', isBillingRetryPeriod: false });
    const invoices = [month(1), month(2), update('void'), month(3, open)];
    const unpaid = seen('2027-03-02', inMarch, invoices, {
      charges: [...charges, failed('pi_3', '2027-03-01')],
    });
    expect(readAccess(unpaid)).toMatchObject({ until: '2027-03-08', isBillingRetryPeriod: true });
  });

  it('does not leave a paid change of the current plan unpaid if it is of an earlier plan', () => {
    const invoices = [unpaidQuarter, toMonthly, bill(3, '2027-02-05', prorations)];
    const { purchase } = look(seen('2027-02-20', activeInFebruary, invoices));
    expect(purchase.transactionId).toBe('processor_a:in_3');
  });

  const freeUntil = { trial_end: seconds('2027-02-20'), period: ['2027-02-20', '2027-03-20'] } as const;
  const afterTrial = bill(3, '2027-02-20', [{ amount: 1000, start: '2027-02-20', end: '2027-03-20' }], open);
  const canceled = {
    status: 'canceled',
    ended_at: seconds('2027-03-20'),
    cancellation_details: { reason: 'payment_failed' },
  } as const;

  it.each([
    ['past due', { status: 'past_due' }, '2027-02-21'],
    ['canceled', canceled, '2027-03-21'],
  ])('starts after a trial that was extended or granted in a paid period: %s', (_title, state, at) => {
    const free = bill(1, '2027-02-01', [{ amount: 0, start: '2027-02-01', end: '2027-02-10' }]);
    const paid = bill(1, '2027-01-15', [{ amount: 1000, start: '2027-01-15', end: '2027-02-15' }]);
    for (const invoice of [free, paid]) {
      const subscription = { ...freeUntil, ...state, trial_start: seconds('2027-02-01') };
      expect(readAccess(seen(at, subscription, [invoice, afterTrial])).until).toBe('2027-02-27');
    }
  });

  it('starts with an unpaid change to another product', () => {
    const unpaid = bill(3, '2027-02-10', [restFrom('2027-02-10', 500, { product: 'max' })], open);
    const subscription = { ...inFebruary, price: { id: 'price_max', product: 'prod_max' } };
    const input = seen('2027-02-12', subscription, [month(1), month(2), unpaid]);
    expect(readAccess(input)).toMatchObject({ until: '2027-02-17', isBillingRetryPeriod: true });
  });

  it('ends when the subscription becomes unpaid before the end of the grace', () => {
    const subscription = { ...inFebruary, status: 'unpaid' };
    const input = seen('2027-02-04', subscription, [month(1), month(2, open)], {
      charges: [failed('pi_2', '2027-02-03')],
    });
    expect(readAccess(input).until).toBe('2027-02-03');
  });

  it.each(['2027-02-02', '2027-02-20'])(
    'ends with the failure if Stripe does not retry the payment (seen on %s)',
    (at) => {
      const subscription = { ...inFebruary, status: 'unpaid' };
      const invoices = [month(1), month(2, { ...open, attempt_count: 1 })];
      expect(readAccess(seen(at, subscription, invoices)).until).toBe('2027-02-01');
    },
  );

  it.each(['2027-02-05', '2027-02-20'])('ends with the grace of an emailed invoice (seen on %s)', (at) => {
    const emailed = { ...open, attempted: false, due_date: seconds('2027-02-03') };
    const subscription = { ...inFebruary, status: 'unpaid' };
    expect(readAccess(seen(at, subscription, [month(1), month(2, emailed)])).until).toBe('2027-02-10');
  });

  it('ends with the cancelation within the grace', () => {
    const subscription = { ...inFebruary, cancel_at: seconds('2027-02-05') };
    expect(readAccess(seen('2027-02-02', subscription, [month(1), month(2, open)])).until).toBe('2027-02-05');
  });

  it('causes one announcement, without a renewal until a payment', () => {
    const paidInMarch = month(3, { status_transitions: { paid_at: seconds('2027-03-20') } });
    const lapsed = [month(1), month(2, open)];
    expect(
      announce([
        seen('2027-01-02', { period: [months[0], months[1]] }, [month(1)]),
        seen('2027-02-02', inFebruary, lapsed),
        seen('2027-02-09', inFebruary, lapsed),
        seen('2027-03-01', inMarch, [...lapsed, month(3, { status: 'draft' })]),
        seen('2027-03-02', inMarch, [...lapsed, month(3, open)]),
        seen('2027-03-21', { ...inMarch, status: 'active' }, [...lapsed, paidInMarch]),
      ]),
    ).toEqual(['PURCHASED', 'ENTERED_GRACE_PERIOD', 'EXPIRED', '', '', 'RENEWED']);
  });

  it('causes an announcement at the due date of an emailed invoice', () => {
    const emailed = { ...open, due_date: seconds('2027-02-16') };
    expect(
      announce([
        seen('2027-01-02', { period: [months[0], months[1]] }, [month(1)]),
        seen('2027-02-02', activeInFebruary, [month(1), month(2, emailed)]),
        seen('2027-02-17', inFebruary, [month(1), month(2, emailed)]),
      ]),
    ).toEqual(['PURCHASED', '', 'ENTERED_GRACE_PERIOD']);
  });

  it('ends with its grace if the payment before it was refunded before its due date', () => {
    const emailed = { ...open, due_date: seconds('2027-02-16') };
    const invoices = [month(1), month(2, emailed)];
    const charges = [refundCharge(1, '2027-02-05')];
    expect(
      announce([
        seen('2027-02-02', activeInFebruary, invoices),
        seen('2027-02-06', activeInFebruary, invoices, { charges }),
        seen('2027-02-17', inFebruary, invoices, { charges }),
        seen('2027-02-24', inFebruary, invoices, { charges }),
      ]),
    ).toEqual(['PURCHASED', 'REFUNDED', 'ENTERED_GRACE_PERIOD', 'EXPIRED']);
  });
});

describe('price of a plan (Stripe)', () => {
  const taxed = { tax: [200, 'exclusive'] } as const;
  const lastDay = (amount: number, more: Partial<LineInput> = {}) => restFrom('2027-02-28', amount, more);
  const yearly = { id: 'price_year', product: 'prod_year', unit_amount: 9000 };
  const read = (lines: readonly LineInput[], amount_paid: number, price: object, before = [month(1)]) => {
    const invoice = bill(2, '2027-02-28', lines, { amount_paid });
    const { transactions } = look(seen('2027-02-28', { price }, [...before, invoice]));
    return transactions.at(-1)?.plan;
  };

  it.each<[string, readonly LineInput[], number, object]>([
    ['that a balance pays in part', [february(taxed)], 600, {}],
    ['that a balance pays', [february(taxed)], 0, {}],
    ['with its tax included', [february({ amount: 1200, tax: [200, 'inclusive'] })], 0, {}],
    [
      'with a fee on its invoice',
      [february(taxed), february({ amount: 500, kind: 'fee', tax: [50, 'exclusive'] })],
      1750,
      {},
    ],
    [
      'that a credit pays after a downgrade',
      [lastDay(-71, { product: 'max', tax: [-14, 'exclusive'] }), lastDay(36, { tax: [7, 'exclusive'] })],
      0,
      {},
    ],
  ])('includes the tax of its line %s', (_title, lines, amountPaid, price) => {
    const before = [bill(1, '2027-02-01', [february({ amount: 2000, product: 'max', tax: [400, 'exclusive'] })])];
    expect(read(lines, amountPaid, price, before)).toEqual({
      amountMicros: 12_000_000,
      taxMicros: 2_000_000,
      period: 'P1M',
    });
  });

  it('includes no tax if the invoice names none', () => {
    expect(read([february()], 0, {})).toEqual({ amountMicros: 10_000_000, period: 'P1M' });
  });

  it('uses the tax rate of the largest line, because taxes are rounded', () => {
    const before = [bill(1, '2027-02-01', [february(taxed)])];
    const charge = lastDay(3, { product: 'max', tax: [1, 'exclusive'] });
    expect(read([charge], 4, max, before)).toEqual({ amountMicros: 24_000_000, taxMicros: 4_000_000, period: 'P1M' });
  });

  it('equals a former price that was charged for the rest of a period only', () => {
    const invoices = [
      month(1),
      bill(2, '2027-01-24', [
        { amount: 465, start: '2027-01-24', end: '2027-02-01', kind: 'proration', product: 'max' },
      ]),
      month(3, { created: seconds('2027-02-01') }),
    ];
    const readPlan = (prices: Readonly<Record<string, number>>) =>
      look(seen('2027-02-28', {}, invoices, { prices })).transactions[1]?.plan;
    expect(readPlan({ price_max: 1995 })).toEqual({ amountMicros: 19_950_000, period: 'P1M' });
    expect(readPlan({})).toEqual({ amountMicros: 18_020_000, period: 'P1M' });
  });

  it('does not come from a trial', () => {
    const trial = bill(1, '2027-01-25', [{ amount: 0, start: '2027-01-25', end: '2027-02-01' }]);
    expect(read([lastDay(36)], 36, yearly, [trial, bill(3, '2027-02-01', [february()])])).toEqual({
      amountMicros: 10_000_000,
      period: 'P1M',
    });
  });
});

describe('payment after the end (Stripe)', () => {
  const canceled = {
    status: 'canceled',
    ended_at: seconds('2027-02-15'),
    canceled_at: seconds('2027-02-15'),
    cancellation_details: { reason: 'payment_failed', feedback: null },
  };
  const late = month(2, { status_transitions: { paid_at: seconds('2027-02-16') } });
  const last = seen('2027-02-17', canceled, [month(1), late]);

  it('counts as money and renews nothing', () => {
    const { purchase, transactions } = look(last);
    expect(purchase).toMatchObject({ transactionId: 'processor_a:in_1' });
    expect(purchase).not.toHaveProperty('lastRenewalDate');
    expect(transactions[1]).toMatchObject({
      amountMicros: 10_000_000,
      isRenewal: false,
      purchaseDate: seconds('2027-02-16') * 1000,
    });
    expect(transactions[1]).not.toHaveProperty('expirationDate');
  });

  it('counts as money if it is for a fee, even of a paused subscription', () => {
    const fee = bill(2, '2027-02-10', [{ amount: 500, start: '2027-02-10', end: '2027-02-10', kind: 'fee' }]);
    const subscription = { period: [months[0], months[1]], status: 'paused' } as const;
    const { transactions } = look(seen('2027-02-11', subscription, [month(1), fee]));
    expect(transactions.map(({ amountMicros }) => amountMicros)).toEqual([10_000_000, 5_000_000]);
  });

  it('causes no announcement', () => {
    const open = month(2, { status: 'open' });
    const looks = [
      seen('2027-01-02', { period: [months[0], months[1]] as const }, [month(1)]),
      seen('2027-02-15', canceled, [month(1), open]),
      last,
    ];
    expect(announce(looks)).toEqual(['PURCHASED', 'EXPIRED', '']);
  });

  it('pays no change of the plan within its period', () => {
    const free = bill(3, '2027-02-05', [
      restFrom('2027-02-05', -500),
      restFrom('2027-02-05', 250, { product: 'lite' }),
    ]);
    const unpaid = [month(1), month(2, { status: 'open' }), free];
    const looks = [
      seen('2027-01-02', { period: [months[0], months[1]] as const }, [month(1)]),
      seen('2027-02-15', canceled, unpaid),
      seen('2027-02-17', canceled, [month(1), late, free]),
    ];
    expect(announce(looks)).toEqual(['PURCHASED', 'EXPIRED', '']);
  });

  it('counts as money if it is for a period that would have started later', () => {
    const ahead = month(3, { status_transitions: { paid_at: seconds('2027-02-16') } });
    const subscription = { ...canceled, period: [months[2], months[3]] } as const;
    const { transactions } = look(seen('2027-02-17', subscription, [month(1), ahead]));
    expect(transactions[1]).toMatchObject({ amountMicros: 10_000_000, isRenewal: false });
    expect(transactions[1]).not.toHaveProperty('expirationDate');
  });
});

describe('trial of a subscription (Stripe)', () => {
  const trial = (lines: readonly LineInput[] = [], product = 'pro') =>
    bill(1, '2027-02-01', [...lines, { amount: 0, start: '2027-02-01', end: '2027-02-15', product }], {
      billing_reason: 'subscription_create',
    });
  const paid = change(2, '2027-02-08', [{ amount: 1000, start: '2027-02-08', end: '2027-03-08' }]);

  it.each<[string, string, Look]>([
    [
      'as planned',
      '2027-02-15',
      seen('2027-02-05', { status: 'trialing', trial_end: seconds('2027-02-15') }, [trial()]),
    ],
    [
      'early',
      '2027-02-08',
      seen('2027-02-09', { period: ['2027-02-08', '2027-03-08'], trial_end: seconds('2027-02-08') }, [trial(), paid]),
    ],
    ['later', '2027-02-22', seen('2027-02-16', { status: 'trialing', trial_end: seconds('2027-02-22') }, [trial()])],
    [
      'with a fee on its invoice',
      '2027-02-15',
      seen('2027-02-05', { status: 'trialing', trial_end: seconds('2027-02-15') }, [
        trial([{ amount: 3000, start: '2027-02-01', end: '2027-02-01', kind: 'fee' }]),
      ]),
    ],
  ])('remains a used trial if it ends %s', (_title, end, input) => {
    const { transactions } = look(input);
    expect(listUsedTrials(transactions)).toEqual(['prod_pro']);
    expect(transactions[0]).toMatchObject({ isTrialPeriod: true, expirationDate: seconds(end) * 1000 });
    expect(transactions[1]?.isTrialPeriod).toBeUndefined();
  });

  const second = { status: 'trialing', trial_start: seconds('2027-02-20'), trial_end: seconds('2027-03-20') };
  const secondInvoice = change(3, '2027-02-20', [{ amount: 0, start: '2027-02-20', end: '2027-03-20' }]);
  const inSecond = { ...second, period: ['2027-02-20', '2027-03-20'] } as const;
  const planned = bill(2, '2027-02-15', [{ amount: 1000, start: '2027-02-15', end: '2027-03-15' }]);
  const extended = bill(2, '2027-02-18', [{ amount: 1000, start: '2027-02-18', end: '2027-03-18' }]);
  const later = bill(4, '2027-03-20', [{ amount: 1000, start: '2027-03-20', end: '2027-04-20' }]);

  it.each<[string, string, Look]>([
    ['', '2027-02-15', seen('2027-02-21', inSecond, [trial(), planned])],
    ['with an invoice', '2027-02-15', seen('2027-02-21', inSecond, [trial(), planned, secondInvoice])],
    ['after the first one ended early', '2027-02-08', seen('2027-02-21', inSecond, [trial(), paid])],
    ['after the first one was extended', '2027-02-18', seen('2027-02-21', inSecond, [trial(), extended])],
    ['of another price', '2027-02-15', seen('2027-02-21', { ...inSecond, price: max }, [trial(), planned])],
    [
      'if its price was never billed',
      '2027-02-15',
      seen('2027-02-21', inSecond, [trial([], 'starter'), planned], { prices: { price_starter: 700 } }),
    ],
    [
      'that has ended',
      '2027-02-15',
      seen('2027-03-21', { ...second, status: 'active', period: ['2027-03-20', '2027-04-20'] }, [
        trial(),
        planned,
        secondInvoice,
        later,
      ]),
    ],
  ])('remains a used trial with its end during a second one %s', (_title, end, input) => {
    const { transactions } = look(input);
    expect(transactions[0]).toMatchObject({ isTrialPeriod: true, expirationDate: seconds(end) * 1000 });
    expect(transactions[1]).not.toHaveProperty('isTrialPeriod');
    expect(transactions[2]?.isTrialPeriod).toBe(input.invoices.includes(secondInvoice) || undefined);
    expect(transactions[3]?.isTrialPeriod).toBeUndefined();
  });

  it('continues after an upgrade, which an invoice of 0 bills', () => {
    const rest = { amount: 0, start: '2027-02-05', end: '2027-02-15', kind: 'proration' } as const;
    const upgrade = change(2, '2027-02-05', [rest, { ...rest, product: 'max' }]);
    const trialing = {
      status: 'trialing',
      trial_start: seconds('2027-02-01'),
      trial_end: seconds('2027-02-15'),
      period: ['2027-02-01', '2027-02-15'],
      price: max,
    } as const;
    const { transactions } = look(seen('2027-02-06', trialing, [trial(), upgrade]));
    expect(transactions.map(({ isTrialPeriod }) => isTrialPeriod)).toEqual([true, true]);
  });

  it('does not include an earlier period of a free price or without usage', () => {
    const lines = { amount: 0, start: '2027-01-15', end: '2027-02-15' } as const;
    for (const state of [{ product: 'free' }, { product: 'unknown' }, { quantity: 0 }]) {
      const free = bill(1, '2027-01-15', [{ ...lines, ...state }]);
      const prices = { price_free: 0 };
      const { transactions } = look(seen('2027-02-21', inSecond, [free, planned], { prices }));
      expect(transactions[0]).not.toHaveProperty('isTrialPeriod');
    }
  });

  it('does not include a first period of metered usage, with a coupon or with a free price', () => {
    const free = bill(1, '2027-02-01', [february({ amount: 0 })]);
    expect(look(seen('2027-02-05', {}, [free])).transactions[0]).not.toHaveProperty('isTrialPeriod');
  });
});

describe('date and period of a payment (Stripe)', () => {
  it.each([
    ['a trial that was granted in it', null, '2027-03-20'],
    ['the end of the subscription in such a trial', '2027-03-17', '2027-03-17'],
    ['its own end if the subscription was canceled in it', '2027-03-10', '2027-03-15'],
  ])('extend to %s', (_title, endedAt, until) => {
    const trial = { trial_start: seconds('2027-02-20'), trial_end: seconds('2027-03-20') };
    const subscription = {
      ...trial,
      ended_at: endedAt === null ? null : seconds(endedAt),
      period: ['2027-03-20', '2027-04-20'],
    } as const;
    const paid = bill(1, '2027-02-15', [{ amount: 1000, start: '2027-02-15', end: '2027-03-15' }]);
    const [transaction] = look(seen('2027-03-21', subscription, [paid])).transactions;
    expect(toDay(transaction?.expirationDate)).toBe(until);
    expect(transaction?.plan).toEqual(until === '2027-03-15' ? undefined : { amountMicros: 10_000_000, period: 'P1M' });
  });

  it('come from the payment and from the subscription if it was backdated', () => {
    const lines = [{ amount: 2000, start: '2026-12-01', end: '2027-02-01', kind: 'proration' }, february()] as const;
    const subscription = { start_date: seconds('2026-12-01'), created: seconds('2027-02-01') };
    const { purchase, transactions } = look(
      seen('2027-02-02', subscription, [bill(1, '2027-02-01', lines, { billing_reason: 'subscription_create' })]),
    );
    expect(toDay(purchase.purchaseDate)).toBe('2027-02-01');
    expect(transactions).toMatchObject([
      {
        amountMicros: 30_000_000,
        purchaseDate: seconds('2027-02-01') * 1000,
        plan: { amountMicros: 10_000_000, period: 'P1M' },
      },
    ]);
  });

  it('come from the renewed period if usage is paid in arrears', () => {
    const usage = (number: number, start: string, end: string, amount: number) =>
      bill(
        number,
        number === 1 ? start : end,
        [{ amount, start, end }],
        number === 1 ? { billing_reason: 'subscription_create' } : {},
      );
    const invoices = [
      usage(1, months[0], months[1], 0),
      usage(2, months[0], months[1], 1234),
      usage(3, months[1], months[2], 2345),
    ];
    const { purchase, transactions } = look(seen('2027-03-10', { period: [months[2], months[3]] }, invoices));
    expect(toDay(purchase.lastRenewalDate)).toBe('2027-03-01');
    expect(
      transactions.map(({ purchaseDate, expirationDate, isRenewal }) => [
        toDay(purchaseDate),
        toDay(expirationDate),
        isRenewal,
      ]),
    ).toEqual([
      ['2027-01-01', '2027-02-01', false],
      ['2027-02-01', '2027-03-01', true],
      ['2027-03-01', '2027-04-01', true],
    ]);
  });
});

describe('payment of a change in the second of a renewal (Stripe)', () => {
  const toQuarter = (start: string, end: string) =>
    change(3, '2027-02-01', [restFrom('2027-02-01', -1000), { amount: 2500, start, end }]);

  it.each([
    ['a longer period', '2027-05-01'],
    ['a shorter period', '2027-02-08'],
  ])('pays %s, and the renewal counts as money', (_title, end) => {
    const { purchase, transactions } = look(
      seen('2027-02-02', { period: ['2027-02-01', end] }, [toQuarter('2027-02-01', end), month(2), month(1)]),
    );
    expect(purchase.transactionId).toBe('processor_a:in_3');
    expect(toDay(purchase.expirationDate)).toBe(end);
    expect(transactions.map(({ expirationDate }) => toDay(expirationDate))).toEqual(['2027-02-01', undefined, end]);
  });
});

describe('plan of a payment (Stripe)', () => {
  const rest = (amount: number, more: Partial<LineInput> = {}) => restFrom('2027-02-15', amount, more);
  const readPlans = (invoices: readonly Invoice[], price: object = {}) =>
    look(seen('2027-02-17', { price }, invoices)).transactions.map(
      ({ plan }) => plan && [plan.amountMicros / 10_000, plan.period],
    );

  it.each<[string, readonly LineInput[], object, [number, string]]>([
    ['an upgrade', [rest(-500), rest(1000, { product: 'max' })], max, [2000, 'P1M']],
    [
      'a downgrade, which a credit pays',
      [rest(-500), rest(250, { product: 'max' })],
      { ...max, unit_amount: 500 },
      [500, 'P1M'],
    ],
    ['added seats', [rest(-500), rest(2500, { quantity: 5 })], {}, [5000, 'P1M']],
    ['a price that is no longer current', [rest(1000, { product: 'old' })], {}, [2000, 'P1M']],
  ])('covers the whole period after %s', (_title, lines, price, plan) => {
    const plans = readPlans([month(1), month(2), change(3, '2027-02-15', lines)], price);
    expect(plans).toEqual([undefined, undefined, plan]);
  });

  it('uses the price in the currency of the subscription', () => {
    const upgrade = [rest(-450), rest(895, { product: 'max' })];
    const invoices = [month(2, { currency: 'eur' }), change(3, '2027-02-15', upgrade, { currency: 'eur' })];
    const { purchase, transactions } = look(seen('2027-02-17', { currency: 'eur', price: max }, invoices));
    expect(purchase.currency).toBe('EUR');
    expect(transactions[1]?.plan).toEqual({ amountMicros: 17_900_000, period: 'P1M' });
  });

  it('comes from a request if the current price has another currency', () => {
    const upgrade = [rest(895, { product: 'max' })];
    const invoices = [month(2, { currency: 'eur' }), bill(3, '2027-02-15', upgrade, { currency: 'eur' })];
    const listIds = (currency: string) =>
      listProratedPriceIds(givenSubscription(subscribe({ currency, price: max })), invoices);
    expect(listIds('usd')).toEqual([]);
    expect(listIds('eur')).toEqual(['price_max']);
    const price = givenPrice({ id: 'price_max', unit_amount: 2000, currency_options: { eur: { unit_amount: 1795 } } });
    const mapping = { ...context, now: seconds('2027-02-17') * 1000, pastPrices: new Map([['price_max', price]]) };
    const { transactions } = observe(subscribe({ currency: 'eur', price: max }), { invoices, mapping });
    expect(transactions[1]?.plan).toEqual({ amountMicros: 17_950_000, period: 'P1M' });
  });

  it('counts packages of units if the price is for a package', () => {
    const seats = [rest(-1000, { quantity: 15 }), rest(1500, { quantity: 25 })];
    const read = (round: 'up' | 'down') =>
      readPlans([month(2), bill(3, '2027-02-15', seats)], { transform_quantity: { divide_by: 10, round } }).at(-1);
    expect(read('up')).toEqual([3000, 'P1M']);
    expect(read('down')).toEqual([2000, 'P1M']);
  });

  it('scales a charge for no units if the first tier of a former price has a fee', () => {
    const fee = { product: 'old', quantity: 0 };
    const whole = bill(2, '2027-02-01', [february({ ...fee, amount: 500 })]);
    const charge = bill(3, '2027-02-15', [rest(250, fee)]);
    expect(readPlans([whole, charge], max)).toEqual([undefined, [500, 'P1M']]);
  });

  it('sums the tiers of a price', () => {
    const ten = february({ amount: 10_000, quantity: 10 });
    const tiers = [ten, february({ amount: 2500, quantity: 5 }), february({ amount: 0, quantity: 0 })];
    const { transactions } = look(seen('2027-02-17', {}, [bill(2, '2027-02-01', tiers, { amount_paid: 12_000 })]));
    expect(transactions[0]).toMatchObject({ quantity: 15, plan: { amountMicros: 125_000_000, period: 'P1M' } });
    const seats = [rest(-5000, { quantity: 10 }), rest(6000, { quantity: 15 })];
    const price = { unit_amount: null, tiers_mode: 'volume' };
    expect(readPlans([bill(2, '2027-02-01', [ten]), bill(3, '2027-02-15', seats)], price).at(-1)).toEqual([
      12_000,
      'P1M',
    ]);
  });

  it.each([
    ['has tiers', { tiers_mode: 'volume', unit_amount: null }, 11_000],
    ['is for a package', { transform_quantity: { divide_by: 10, round: 'up' }, unit_amount: 10_000 }, 20_000],
  ])('comes from a request if the quantity of a former price changed, which %s', (_title, state, monthly) => {
    const ten = bill(2, '2027-02-01', [february({ amount: 10_000, quantity: 10 })]);
    const seats = [rest(-5000, { quantity: 10 }), rest(monthly / 2, { quantity: 12 })];
    const upgrade = restFrom('2027-02-16', 928, { product: 'max' });
    const invoices = [ten, bill(3, '2027-02-15', seats), bill(4, '2027-02-16', [upgrade])];
    const subscription = subscribe({ price: max });
    expect(listProratedPriceIds(givenSubscription(subscription), invoices)).toEqual(['price_pro']);
    expect(listProratedPriceIds(givenSubscription(subscription), [ten])).toEqual([]);
    const pastPrices = new Map([['price_pro', givenPrice({ id: 'price_pro', ...state })]]);
    const mapping = { ...context, now: seconds('2027-02-17') * 1000, pastPrices };
    const { transactions } = observe(subscription, { invoices, mapping });
    expect(transactions[1]?.plan).toEqual({ amountMicros: monthly * 10_000, period: 'P1M' });
  });

  it('subtracts the discount that a proration includes, or itemizes', () => {
    const discounted = bill(2, '2027-02-01', [february({ discount: 500 })], { amount_paid: 500 });
    const charges = [rest(500, { product: 'max' }), rest(1000, { product: 'max', discount: 500 })];
    for (const charge of charges)
      expect(readPlans([discounted, bill(3, '2027-02-15', [rest(-250), charge])], max).at(-1)).toEqual([1000, 'P1M']);
  });

  it('uses the price of the period if a fee, a credit or tax changes the amount', () => {
    const fee = february({ amount: 500, end: '2027-02-01', kind: 'fee' });
    expect(readPlans([bill(2, '2027-02-01', [fee, february()])])).toEqual([[1000, 'P1M']]);
    expect(readPlans([bill(2, '2027-02-01', [february()], { amount_paid: 484 })])).toEqual([[1000, 'P1M']]);
    expect(readPlans([bill(2, '2027-02-01', [february()])])).toEqual([undefined]);
  });
});

describe('an invoice of which a credit note forgave a part before its payment', () => {
  const readMonthly = (line: Partial<LineInput>, state: InvoiceState) => {
    const [transaction] = look(seen('2027-02-17', {}, [bill(2, '2027-02-01', [february(line)], state)])).transactions;
    const { plan, expirationDate } = transaction ?? {};
    const [monthly] = computeMonthlyAmounts({ ...transaction, currency: 'USD' } as Transaction, 0, 0);
    return { monthly: monthly / 10_000, tax: plan?.taxMicros, until: toDay(expirationDate) };
  };

  it.each<[string, Partial<LineInput>, InvoiceState, object]>([
    ['none of it', {}, { amount_paid: 0, pre_payment_credit_notes_amount: 1000 }, { monthly: 0 }],
    ['the rest', {}, { amount_paid: 600, pre_payment_credit_notes_amount: 400 }, { monthly: 600 }],
    [
      'the rest, of which the balance paid a part',
      {},
      { amount_paid: 200, pre_payment_credit_notes_amount: 400 },
      { monthly: 600 },
    ],
    [
      'the rest with its tax',
      { tax: [200, 'exclusive'] },
      { amount_paid: 0, pre_payment_credit_notes_amount: 600 },
      { monthly: 600, tax: 1_000_000 },
    ],
  ])('counts %s as recurring, and keeps access', (_title, line, state, expected) => {
    expect(readMonthly(line, state)).toEqual({ tax: undefined, until: '2027-03-01', ...expected });
  });

  const rest = (amount: number, more: Partial<LineInput> = {}) => restFrom('2027-02-15', amount, more);
  const toMax = { product: 'max' } as const;
  it.each<[string, number, LineInput, number, string]>([
    ['the former plan after an upgrade without a charge', 500, rest(1000, toMax), 1000, 'P1M'],
    ['a part of an upgrade', 250, rest(1000, toMax), 1500, 'P1M'],
    ['the former seats after others without a charge', 2000, rest(2500, { quantity: 5 }), 1000, 'P1M'],
    [
      'what a former plan credits to another period',
      11_500,
      { ...toMax, amount: 12_000, start: '2027-02-15', end: '2028-02-15' },
      500,
      'P12M',
    ],
  ])('counts %s', (_title, forgiven, line, amount, period) => {
    const update = change(3, '2027-02-15', [rest(-500), line], {
      amount_paid: line.amount - 500 - forgiven,
      pre_payment_credit_notes_amount: forgiven,
    });
    const price = line.product ? max : {};
    const { transactions } = look(seen('2027-02-17', { price }, [month(2), update]));
    expect(transactions[1]?.plan).toEqual({ amountMicros: amount * 10_000, period });
  });
});

describe('tax of a payment (Stripe)', () => {
  const readTax = (state: InvoiceState) =>
    look(seen('2027-02-17', {}, [bill(2, '2027-02-01', [february()], state)])).transactions[0]?.taxMicros;

  it('equals the tax of the invoice, in proportion to what was paid', () => {
    const total_taxes = [{ amount: 150 }, { amount: 50 }] as never;
    const lines = { data: [{ ...toLine(february()), taxes: [{ amount: 200, tax_behavior: 'exclusive' }] }] } as never;
    expect(readTax({ total_taxes, lines, amount_paid: 1200 })).toBe(2_000_000);
    expect(readTax({ total_taxes, lines, amount_paid: 600 })).toBe(1_000_000);
    expect(readTax({})).toBeUndefined();
  });

  it('is none if a credit without tax pays all of the invoice, and more', () => {
    const total_taxes = [{ amount: 200 }] as never;
    const taxed = { ...toLine(february()), taxes: [{ amount: 200, tax_behavior: 'exclusive' }] };
    const credit = toLine(february({ amount: -2000, kind: 'proration' }));
    expect(readTax({ total_taxes, lines: { data: [credit, taxed] } as never, amount_paid: 0 })).toBe(0);
  });
});
