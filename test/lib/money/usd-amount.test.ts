import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toAmountUsd } from '../../../lib/money/usd-conversion.ts';

const micros = fc.integer({ min: -1_000_000_000_000, max: 1_000_000_000_000 });
const decimal = fc
  .tuple(fc.integer({ min: 1, max: 99_999_999 }), fc.integer({ min: 1, max: 5 }))
  .map(([digits, decimals]) => (digits / 10 ** decimals).toFixed(decimals));
const rate = fc.tuple(decimal, decimal).map(([dollars, units]) => `${dollars}/${units}`);

describe('toAmountUsd', () => {
  it('returns US dollars exactly', () => {
    expect(toAmountUsd({ amountMicros: 4_990_000, currency: 'USD' })).toBe(4.99);
    expect(toAmountUsd({ amountMicros: 1, currency: 'USD' })).toBe(0.000001);
  });

  it('converts with the rates of both currencies per euro', () => {
    expect(toAmountUsd({ amountMicros: 600_000_000, currency: 'JPY', usdRate: '1.0389/163.06' })).toBe(3.82);
    expect(toAmountUsd({ amountMicros: 9_990_000, currency: 'EUR', usdRate: '1.0389/1' })).toBe(10.38);
  });

  it.each([
    [5_000, 0],
    [15_000, 0.02],
    [25_000, 0.02],
    [25_001, 0.03],
    [-5_000, -0],
    [-15_000, -0.02],
  ])('rounds %d micros half to even', (amountMicros, expected) => {
    expect(toAmountUsd({ amountMicros, currency: 'EUR', usdRate: '1.5/1.5' })).toBeCloseTo(expected, 10);
  });

  it('returns null without amount, currency or rate', () => {
    expect(toAmountUsd({ currency: 'USD' })).toBeNull();
    expect(toAmountUsd({ amountMicros: 1_000_000 })).toBeNull();
    expect(toAmountUsd({ amountMicros: 1_000_000, currency: 'COP' })).toBeNull();
    // Braintree reports no currency of a trial.
    expect(toAmountUsd({ amountMicros: 0 })).toBe(0);
    expect(toAmountUsd({ amountMicros: 0, currency: 'COP' })).toBe(0);
  });

  it('returns an amount within half a cent of the exact quotient', () => {
    fc.assert(
      fc.property(micros, rate, (amountMicros, usdRate) => {
        const [dollars = 0n, units = 1n] = usdRate.split('/').map((text) => BigInt(Math.round(Number(text) * 100_000)));
        const cents = BigInt(Math.round((toAmountUsd({ amountMicros, currency: 'XXX', usdRate }) ?? Number.NaN) * 100));
        fc.pre(cents < 2n ** 50n && cents > -(2n ** 50n));
        const deviation = BigInt(amountMicros) * dollars - cents * units * 10_000n;
        expect(2n * (deviation < 0n ? -deviation : deviation) <= units * 10_000n).toBe(true);
      }),
    );
  });

  it('never returns less for a greater amount', () => {
    fc.assert(
      fc.property(micros, micros, rate, (a, b, usdRate) => {
        const usd = (amountMicros: number) => toAmountUsd({ amountMicros, currency: 'XXX', usdRate }) ?? Number.NaN;
        expect(usd(Math.max(a, b))).toBeGreaterThanOrEqual(usd(Math.min(a, b)));
      }),
    );
  });
});
