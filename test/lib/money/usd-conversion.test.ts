import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { chooseUsdRate, withUsdRate } from '../../../lib/money/usd-conversion.ts';
import { merge } from '../../../lib/purchases/merge.ts';
import { createObservation, createTransaction, dayMs, startDate } from '../../../testing/given.ts';

const rates = { date: '2025-12-31', perEuro: { USD: '1.1', JPY: '180' } };
const yen = { purchaseDate: startDate, currency: 'JPY', amountMicros: 600_000_000 };

describe('priced', () => {
  it('keeps the fraction of the two rates and its day', () => {
    expect(withUsdRate(yen, rates)).toEqual({ ...yen, usdRate: '1.1/180', usdRateDate: '2025-12-31' });
    expect(withUsdRate({ ...yen, currency: 'EUR' }, rates)).toMatchObject({ usdRate: '1.1/1' });
  });

  it.each(['USD', 'COP', 'constructor'])('gives %s no rate', (currency) => {
    expect(withUsdRate({ ...yen, currency }, rates)).toEqual({ ...yen, currency });
  });

  it('does not change a rate that was in force', () => {
    const kept = { ...yen, usdRate: '1.2/170', usdRateDate: '2025-12-30' };
    expect(withUsdRate(kept, rates)).toBe(kept);
  });

  it('replaces an estimate', () => {
    expect(withUsdRate({ ...yen, usdRate: '1.2/170', usdRateDate: '2024-12-31' }, rates).usdRate).toBe('1.1/180');
  });
});

describe('keptRate', () => {
  const rated = { ...yen, usdRate: '1.1/180', usdRateDate: '2025-12-31' };

  it('takes over the rate for the same money', () => {
    expect(chooseUsdRate(yen, [yen, rated])).toEqual({ usdRate: '1.1/180', usdRateDate: '2025-12-31' });
  });

  it('takes over no rate of another currency or day', () => {
    expect(chooseUsdRate({ ...yen, currency: 'GBP' }, [rated])).toEqual({});
    expect(chooseUsdRate({ ...yen, purchaseDate: startDate + 40 * dayMs }, [rated])).toEqual({});
  });
});

describe('merge', () => {
  const { purchase } = createObservation();
  const look = fc
    .record({
      asOf: fc.integer({ min: 0, max: 3 }),
      currency: fc.constantFrom('JPY', 'USD', 'COP'),
      amountMicros: fc.constantFrom(1_000_000, 2_000_000),
    })
    .map(({ asOf, ...amount }) =>
      createObservation({}, { asOf, transactions: [withUsdRate(createTransaction(purchase, amount), rates)] }),
    );

  it('ends with the same rate in any order', () => {
    fc.assert(
      fc.property(fc.array(look, { minLength: 1, maxLength: 5 }), (observations) => {
        const all = (of: typeof observations) => of.reduce<ReturnType<typeof merge> | undefined>(merge, undefined);
        expect(all([...observations].reverse())).toEqual(all(observations));
      }),
    );
  });

  it('gains a rate later, for the purchase too', () => {
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
