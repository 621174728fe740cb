import { describe, expect, it } from '@jest/globals';
import { computeMonthlyAmounts, computePaymentAmounts } from '../../../lib/purchases/payment-amounts.ts';
import { createObservation, createTransaction } from '../../../testing/given.ts';

const { purchase } = createObservation({ productType: 'paid subscription' });

describe('computePaymentAmounts', () => {
  it.each([
    // 12.00 with 2.00 tax: (12.00 - 2.00) x 85 %.
    ['a marketplace takes its commission from the price without tax', 'store_b', 8_500, 8_500_000],
    // 12.00 x 97.1 % - 2.00.
    ['a processor takes its fee from the whole payment', 'processor_a', 9_710, 9_652_000],
    ['a processor takes its fee from the whole payment', 'processor_b', 9_710, 9_652_000],
  ] as const)('subtracts the reported tax: %s (%s)', (_rule, platform, share, proceeds) => {
    const payment = createTransaction(purchase, { platform, amountMicros: 12_000_000, taxMicros: 2_000_000 });
    expect(computePaymentAmounts(payment, share)).toEqual([12_000_000, 12_000_000, proceeds, 0]);
  });

  it('returns the part of the tax that a refund returns', () => {
    const payment = createTransaction(purchase, {
      platform: 'store_b',
      amountMicros: 12_000_000,
      taxMicros: 2_000_000,
      partialRefunds: [{ id: 'half', date: purchase.purchaseDate ?? 0, amountMicros: 6_000_000 }],
    });
    expect(computePaymentAmounts(payment, 8_500)).toEqual([12_000_000, 6_000_000, 4_250_000, 0]);
  });

  it('returns the reported proceeds of the whole payment until it is refunded', () => {
    const date = purchase.purchaseDate ?? 0;
    const payment = { platform: 'store_b', amountMicros: 12_000_000, taxMicros: 2_000_000 } as const;
    const partialRefunds = [{ id: 'half', date, amountMicros: 6_000_000 }];
    const half = createTransaction(purchase, { ...payment, storeProceedsMicros: 4_300_000, partialRefunds });
    expect(computePaymentAmounts(half, 8_500, date)).toEqual([12_000_000, 12_000_000, 8_600_000, 8_600_000]);
    expect(computePaymentAmounts(half, 8_500)).toEqual([12_000_000, 6_000_000, 4_300_000, 4_300_000]);
    const whole = createTransaction(purchase, { ...payment, storeProceedsMicros: 0, refundedAt: date });
    expect(computePaymentAmounts(whole, 8_500, date)).toEqual([12_000_000, 12_000_000, 8_500_000, 0]);
    expect(computePaymentAmounts(whole, 8_500)).toEqual([12_000_000, 0, 0, 0]);
  });
});

describe('computeMonthlyAmounts', () => {
  const date = purchase.purchaseDate ?? 0;
  it.each([
    // 12.00 x 97.1 % - 2.00.
    ['of the plan, whatever part of it a balance pays', 0, undefined, 2_000_000, 9_652_000],
    ['of the plan, not that of a fee on the same invoice', 20_000_000, 4_000_000, 2_000_000, 9_652_000],
    ['of the payment if that of the plan is not known', 6_000_000, 1_000_000, undefined, 9_652_000],
    ['that is not known', 0, undefined, undefined, 11_652_000],
  ])('subtracts the tax %s', (_case, amountMicros, taxMicros, planTax, proceeds) => {
    const plan = { amountMicros: 12_000_000, period: 'P1M', ...(planTax !== undefined && { taxMicros: planTax }) };
    const tax = taxMicros === undefined ? {} : { taxMicros };
    const payment = createTransaction(purchase, { platform: 'processor_a', amountMicros, ...tax, plan });
    expect(computeMonthlyAmounts(payment, 9_710, date)).toEqual([12_000_000, 12_000_000, proceeds, 0]);
  });
});
