import { describe, expect, it } from '@jest/globals';
import { formatAmount } from '../stripe/money.ts';

describe('formatAmount (Stripe)', () => {
  it.each([
    [499, 'usd', '4.99 USD'],
    [500, 'jpy', '500 JPY'],
    [1_500, 'kwd', '1.500 KWD'],
  ])('formats %d %s as %s', (amount, currency, text) => {
    expect(formatAmount(amount, currency)).toBe(text);
  });
});
