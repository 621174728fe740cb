import { describe, expect, it } from '@jest/globals';
import { addPaymentFigures } from '../../../lib/purchases/add-payment-figures.ts';
import { merge } from '../../../lib/purchases/merge.ts';
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

/** Returns the figures of each transaction of a subscription, which the last id in `present` pays. */
function readFigures(present: string, expirationDate: string, transactions: readonly Transaction[]) {
  const state = merge(undefined, {
    asOf: day('02-20'),
    purchase: {
      ...common,
      transactionId: `processor_a:${present}`,
      productType: 'paid subscription',
      purchaseDate: transactions[0]?.purchaseDate ?? 0,
      expirationDate: day(expirationDate),
    },
    transactions,
    userAliases: [],
  });
  const { transactions: counted } = addPaymentFigures(state, {
    before: undefined,
    replaced: undefined,
    payer: undefined,
    rates: [],
  });
  return counted.map(({ figures }) => ({
    end: figures?.end,
    trialAt: figures?.trialAt,
    previous: figures?.previous?.end,
  }));
}

describe('addPaymentFigures', () => {
  it('leaves a period to its payment when a further payment for a part of it was refunded', () => {
    const month = given('in_1', '02-01', { expirationDate: day('03-01') });
    const seats = given('in_2', '02-15', { expirationDate: day('03-01'), isRenewal: false, refundedAt: day('02-16') });
    expect(readFigures('in_1', '03-01', [month, seats])).toEqual([
      { end: day('03-01'), trialAt: undefined, previous: undefined },
      { end: undefined, trialAt: undefined, previous: undefined },
    ]);
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
});
