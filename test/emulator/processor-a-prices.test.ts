import { expect, it } from '@jest/globals';
import { formatAmount } from '../../emulator/processor-a/money.ts';

it.each([
  [499, 'usd', '4.99 USD'],
  [500, 'jpy', '500 JPY'],
  [1_500, 'kwd', '1.500 KWD'],
])('writes %d of %s as %s on pages', (amount, currency, text) => {
  expect(formatAmount(amount, currency)).toBe(text);
});
