import { describe, expect, it } from '@jest/globals';
import { CommissionRates } from '../../lib/apps/app.ts';
import { listCommissionRates } from '../../lib/apps/commission-rates.ts';
import { parse } from '../../lib/foundation/parse.ts';
import { AppExchangeRates } from '../../lib/money/rates.ts';
import { listTableRows, readSection, readSnippet } from '../../testing/documents.ts';

describe('Exchange rates of an app', () => {
  it('match the values of docs/proceeds.md', () => {
    const { rates } = JSON.parse(readSnippet('docs/proceeds.md', 'exchange-rates'));
    expect(parse(AppExchangeRates, rates)).toEqual(rates);
  });

  it.each([
    ['US dollars', { currency: 'USD', from: '2026-01-01', perUSD: '1' }],
    ['a rate of zero', { currency: 'VND', from: '2026-01-01', perUSD: '0' }],
    ['a number instead of a text', { currency: 'VND', from: '2026-01-01', perUSD: 26300 }],
    ['a day that does not exist', { currency: 'VND', from: '2026-02-30', perUSD: '26300' }],
  ])('reject %s', (_case, rate) => {
    expect(() => parse(AppExchangeRates, [rate])).toThrow();
  });
});

describe('Rates of commission', () => {
  const appRates = parse(CommissionRates, JSON.parse(readSnippet('docs/proceeds.md', 'rates')).rates);

  it('marks the source of each rate, and lists the default rates of docs/proceeds.md', () => {
    const rates = listCommissionRates(appRates);
    expect(rates.slice(0, 3).map(({ source }) => source)).toEqual(['app', 'app', 'app']);
    const percents = listTableRows(readSection('docs/proceeds.md', 'Proceeds')).map(([, from, , , percent = '']) => [
      from,
      Number(percent.replace(' %', '')),
    ]);
    const defaults = rates.slice(3).map(({ from, commissionPercent }) => [from, commissionPercent]);
    // Stripe, its account of the deployment and Braintree are one row.
    expect(percents).toEqual(defaults.slice(0, -2));
  });
});
