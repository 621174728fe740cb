import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayMs } from '../../../lib/foundation/time.ts';
import { chooseUsdRate, withUsdRate } from '../../../lib/money/usd-conversion.ts';
import { merge } from '../../../lib/purchases/merge.ts';
import { createObservation, createTransaction, startDate } from '../../../testing/given.ts';

const rates = { date: '2025-12-31', perEuro: { USD: '1.1', JPY: '180' } };
const yen = { purchaseDate: startDate, currency: 'JPY', amountMicros: 600_000_000 };

describe('withUsdRate', () => {
  it('adds the fraction of the two rates and its day', () => {
    expect(withUsdRate(yen, rates)).toEqual({ ...yen, usdRate: '1.1/180', usdRateDate: '2025-12-31' });
    expect(withUsdRate({ ...yen, currency: 'EUR' }, rates)).toMatchObject({ usdRate: '1.1/1' });
  });

  it.each(['USD', 'COP', 'constructor'])('adds no rate to %s', (currency) => {
    expect(withUsdRate({ ...yen, currency }, rates)).toEqual({ ...yen, currency });
  });

  it.each([
    ['AED', { usdRate: '1/3.6725', usdRateDate: '2025-12-31' }],
    ['SAR', { usdRate: '1/3.75', usdRateDate: '2025-12-31' }],
    ['XOF', { usdRate: '1.1/655.957', usdRateDate: '2025-12-31' }],
  ])('adds the fixed rate of %s', (currency, rate) => {
    expect(withUsdRate({ ...yen, currency }, rates)).toEqual({ ...yen, currency, ...rate });
  });

  it('adds a fixed rate to the dollar even without the rates of the day', () => {
    expect(withUsdRate({ ...yen, currency: 'AED' }, undefined)).toMatchObject({ usdRate: '1/3.6725' });
    expect(withUsdRate({ ...yen, currency: 'XOF' }, undefined)).not.toHaveProperty('usdRate');
  });

  it('adds the latest rate of the app before the purchase, which precedes a fixed one', () => {
    const ofApp = ['2025-01-01', '2025-12-01', '2099-01-01'].flatMap((from, index) => [
      { currency: 'VND', from, perUSD: `${25_000 + index}` },
      { currency: 'AED', from, perUSD: '3.7' },
      { currency: 'JPY', from, perUSD: '1' },
    ]);
    const dong = { ...yen, currency: 'VND' };
    expect(withUsdRate(dong, rates, ofApp)).toEqual({ ...dong, usdRate: '1/25001', usdRateDate: '2025-12-01' });
    expect(withUsdRate({ ...yen, currency: 'AED' }, rates, ofApp)).toMatchObject({ usdRate: '1/3.7' });
    expect(withUsdRate(yen, rates, ofApp)).toMatchObject({ usdRate: '1.1/180' });
  });

  it('keeps a rate that was in force', () => {
    const converted = { ...yen, usdRate: '1.2/170', usdRateDate: '2025-12-30' };
    expect(withUsdRate(converted, rates)).toBe(converted);
  });

  it('replaces a fallback rate', () => {
    expect(withUsdRate({ ...yen, usdRate: '1.2/170', usdRateDate: '2024-12-31' }, rates).usdRate).toBe('1.1/180');
  });
});

describe('chooseUsdRate', () => {
  const converted = { ...yen, usdRate: '1.1/180', usdRateDate: '2025-12-31' };

  it('returns the rate of the same amount', () => {
    expect(chooseUsdRate(yen, [yen, converted])).toEqual({ usdRate: '1.1/180', usdRateDate: '2025-12-31' });
  });

  it('ignores a rate for a different currency or day', () => {
    expect(chooseUsdRate({ ...yen, currency: 'GBP' }, [converted])).toEqual({});
    expect(chooseUsdRate({ ...yen, purchaseDate: startDate + 40 * dayMs }, [converted])).toEqual({});
  });
});

describe('merge (USD conversion)', () => {
  const { purchase } = createObservation();
  const arbitraryObservation = fc
    .record({
      asOf: fc.integer({ min: 0, max: 3 }),
      currency: fc.constantFrom('JPY', 'USD', 'COP'),
      amountMicros: fc.constantFrom(1_000_000, 2_000_000),
    })
    .map(({ asOf, ...amount }) =>
      createObservation({}, { asOf, transactions: [withUsdRate(createTransaction(purchase, amount), rates)] }),
    );

  it('returns the same rate for any order of the observations', () => {
    fc.assert(
      fc.property(fc.array(arbitraryObservation, { minLength: 1, maxLength: 5 }), (observations) => {
        const mergeAll = (list: typeof observations) =>
          list.reduce<ReturnType<typeof merge> | undefined>(merge, undefined);
        expect(mergeAll([...observations].reverse())).toEqual(mergeAll(observations));
      }),
    );
  });

  it('adds a rate to the transaction and the purchase later', () => {
    const first = merge(undefined, createObservation({}, { transactions: [createTransaction(purchase, yen)] }));
    const state = merge(
      first,
      createObservation({}, { transactions: [withUsdRate(createTransaction(purchase, yen), rates)] }),
    );
    expect(state.transactions[0]?.transaction.usdRate).toBe('1.1/180');
    expect(state.purchase.usdRate).toBe('1.1/180');
    expect(
      merge(state, createObservation({}, { asOf: startDate + 1, transactions: [createTransaction(purchase, yen)] }))
        .purchase.usdRate,
    ).toBe('1.1/180');
  });
});
