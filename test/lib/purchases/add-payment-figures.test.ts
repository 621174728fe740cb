import { describe, expect, it } from '@jest/globals';
import { dayMs, hourMs } from '../../../lib/foundation/time.ts';
import { addPaymentFigures } from '../../../lib/purchases/add-payment-figures.ts';
import { merge, type PurchaseState } from '../../../lib/purchases/merge.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';

const day = (text: string): number => Date.parse(`2027-${text}T00:00:00Z`);
const common = {
  purchaseId: 'processor_a:sub_1',
  productId: 'processor_a:pro',
  platform: 'processor_a',
  sandbox: false,
} as const;
const given = (id: string, from: string, state: Partial<Transaction>): Transaction => ({
  ...common,
  transactionId: `processor_a:${id}`,
  purchaseDate: day(from),
  currency: 'USD',
  amountMicros: 10_000_000,
  ...state,
});

/** Returns the figures of each transaction of a subscription, whose current period the transaction `present` pays. */
function readFigures(
  present: string,
  expirationDate: string,
  transactions: readonly Transaction[],
  state: Partial<Purchase> = {},
) {
  const counted = addFigures(present, expirationDate, transactions, state);
  return counted.map(({ figures }) => ({
    end: figures?.end,
    trialAt: figures?.trialAt,
    previous: figures?.previous?.end,
  }));
}

type StateInput = Required<Parameters<typeof readFigures>>;

const addFigures = (...input: StateInput): PurchaseState['transactions'] =>
  countState(undefined, ...input).transactions;

function countState(
  before: PurchaseState | undefined,
  ...[present, expirationDate, transactions, fields, replaced]: [...StateInput, replaced?: PurchaseState]
): PurchaseState {
  const state = merge(before, {
    asOf: (before?.asOf ?? day('02-20')) + 1,
    purchase: {
      ...common,
      transactionId: `processor_a:${present}`,
      productType: 'paid subscription',
      purchaseDate: transactions[0]?.purchaseDate ?? 0,
      expirationDate: day(expirationDate),
      ...fields,
    },
    transactions,
    userAliases: [],
  });
  return addPaymentFigures(state, { before, replaced, payer: undefined, rates: [] });
}

describe('addPaymentFigures', () => {
  it.each([
    ['the period that was paid', { plan: { amountMicros: 10_000_000, period: 'P300D' } }, 7_000],
    ['the whole period if it is not extended', {}, 8_500],
  ] as const)('counts %s as paid service for the rate of the second year', (_title, fields, share) => {
    const platform = 'store_a';
    const year = given('1', '01-01', { platform, expirationDate: day('01-01') + 390 * dayMs, ...fields });
    const purchaseDate = year.expirationDate ?? 0;
    const renewal = {
      ...year,
      transactionId: 'processor_a:2',
      purchaseDate,
      expirationDate: purchaseDate + 31 * dayMs,
    };
    expect(addFigures('2', '12-31', [year, renewal], { platform })[1]?.figures?.share).toBe(share);
  });

  describe('with a further payment for the rest of a period', () => {
    const month = given('in_1', '02-01', { expirationDate: day('03-01') });
    const change = given('in_2', '02-15', { expirationDate: day('03-01'), isRenewal: false });
    const refunded = { ...change, refundedAt: day('02-16') };
    const next = given('in_3', '03-01', { expirationDate: day('04-01') });

    const second = { ...refunded, transactionId: 'processor_a:in_4', purchaseDate: day('02-17') };

    it.each<[string, string, string, readonly Transaction[]]>([
      ['during it', 'in_1', '03-01', [month, refunded]],
      ['during it, after an earlier change', 'in_2', '03-01', [month, change, second]],
      ['before the next one', 'in_3', '04-01', [month, refunded, next]],
    ])(
      'keeps the start and the end if that payment was refunded %s',
      (_title, present, expirationDate, transactions) => {
        const figures = readFigures(present, expirationDate, transactions);
        const index = transactions.includes(second) ? 2 : 1;
        const start = transactions[index]?.purchaseDate;
        expect(figures[index - 1]?.end).toBe(start);
        expect(figures[index]).toMatchObject({ end: day('03-01'), previous: start });
      },
    );

    it('ends with the refund of the payment of the period', () => {
      const refundedMonth = { ...month, refundedAt: day('02-20') };
      for (const [present, later] of [['in_2', []] as const, ['in_3', [next]] as const])
        expect(readFigures(present, '03-01', [refundedMonth, change, ...later])[1]).toMatchObject({
          end: day('02-20'),
        });
    });

    it('does not count a change after the refund of the payment of the period', () => {
      expect(readFigures('in_2', '03-01', [{ ...month, refundedAt: day('02-10') }, change])).toMatchObject([
        { end: day('02-10') },
        { end: undefined },
      ]);
    });

    it.each([
      ['in_1', change],
      ['in_1', refunded],
    ])('uses the end and the failed renewal of the purchase whose payment is %s', (present, further) => {
      const counted = addFigures(present, '03-08', [month, further], { cancelationReason: 'System.BillingError' });
      expect(counted.map(({ figures }) => [figures?.end, figures?.isInvoluntary])).toEqual([
        [day('02-15'), undefined],
        [day('03-08'), true],
      ]);
    });

    it('counts a separate period if the payment pays another length', () => {
      const yearly = given('in_1', '02-01', { expirationDate: Date.parse('2028-02-01') });
      expect(readFigures('in_3', '04-15', [yearly, refunded, { ...next, purchaseDate: day('03-15') }])).toMatchObject([
        { end: day('02-15') },
        { end: day('02-16') },
        { previous: day('02-16') },
      ]);
    });
  });

  it('does not count a fee on the invoice of a trial as a period, and counts the conversion after it', () => {
    const trial = given('in_1', '02-01', {
      expirationDate: day('02-15'),
      isTrialPeriod: true,
      plan: { amountMicros: 0, period: 'P14D' },
    });
    const month = given('in_2', '02-15', { expirationDate: day('03-15') });
    expect(readFigures('in_2', '03-15', [trial, month])).toEqual([
      { end: undefined, trialAt: day('02-01'), previous: undefined },
      { end: day('03-15'), trialAt: day('02-01'), previous: undefined },
    ]);
  });

  it('counts the conversion of a trial by the purchase that replaces it, and keeps it', () => {
    const trial = given('in_1', '02-01', { expirationDate: day('02-15'), isTrialPeriod: true });
    const replaced = countState(undefined, 'in_1', '02-15', [trial], { isTrialPeriod: true });
    const month = given('in_2', '02-10', { expirationDate: day('03-10') });
    const first = countState(undefined, 'in_2', '03-10', [month], {}, replaced);
    const renewal = given('in_3', '03-10', { expirationDate: day('04-10') });
    const renewed = countState(first, 'in_3', '04-10', [renewal], {});
    for (const { transactions } of [first, renewed])
      expect(transactions[0]?.figures).toMatchObject({ trialAt: day('02-01') });
    expect(renewed.transactions[1]?.figures).not.toHaveProperty('trialAt');
  });

  it('does not count money without a period as one', () => {
    const month = given('in_1', '02-01', { expirationDate: day('03-01') });
    expect(readFigures('in_1', '03-01', [month, given('in_2', '02-10', {})])).toMatchObject([
      { end: day('03-01') },
      { end: undefined },
    ]);
  });

  it('does not end a period at a later payment for time that has passed', () => {
    const month = given('in_2', '02-01', { expirationDate: day('03-01') });
    const overdue = given('in_1', '02-10', { periodStartDate: day('01-01'), expirationDate: day('02-01') });
    expect(readFigures('in_2', '03-01', [month, overdue])).toMatchObject([{ end: day('03-01') }, { end: undefined }]);
  });

  it('continues at Braintree if the renewal is billed within the day after the period', () => {
    const platform = 'processor_b';
    const first = given('1', '02-01', { platform, expirationDate: day('03-01') });
    const renew = (hours: number) => {
      const purchaseDate = day('03-01') + hours * hourMs;
      const renewal = given('2', '03-01', { platform, purchaseDate, expirationDate: day('04-01') });
      return { purchaseDate, figures: readFigures('2', '04-02', [first, renewal], { platform }) };
    };
    const { purchaseDate, figures } = renew(15);
    expect(figures).toMatchObject([{ end: purchaseDate }, { previous: purchaseDate }]);
    expect(renew(30).figures).toMatchObject([{ end: day('03-02') }, { previous: day('03-02') }]);
  });

  it('continues after free time that the store granted within a paid period', () => {
    const month = given('in_1', '01-21', { expirationDate: day('02-21') });
    const next = given('in_2', '02-27', { expirationDate: day('03-27') });
    const granted = countState(undefined, 'in_1', '02-27', [month], { isTrialPeriod: true });
    const { transactions } = countState(granted, 'in_2', '03-27', [month, next], {});
    expect(transactions.map(({ figures }) => [figures?.end, figures?.previous?.end])).toEqual([
      [day('02-27'), undefined],
      [day('03-27'), day('02-27')],
    ]);
  });
});
