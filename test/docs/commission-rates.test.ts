import { describe, expect, it } from '@jest/globals';
import { CommissionRates, listCommissionRates } from '../../lib/purchases/commission-rates.ts';
import { parse } from '../../lib/shared/parse.ts';
import { listTableRows, readSection, readSnippet } from '../../testing/documents.ts';

describe('Rates of commission', () => {
  const appRates = parse(CommissionRates, JSON.parse(readSnippet('docs/figures.md', 'rates')).rates);

  it('marks the source of each rate, and lists the default rates of docs/figures.md', () => {
    const rates = listCommissionRates(appRates);
    expect(rates.slice(0, 3).map(({ source }) => source)).toEqual(['app', 'app', 'app']);
    const percents = listTableRows(readSection('docs/figures.md', 'Proceeds')).map(([, from, , , percent = '']) => [
      from,
      Number(percent.replace(' %', '')),
    ]);
    const defaults = rates.slice(3).map(({ from, commissionPercent }) => [from, commissionPercent]);
    // Stripe, its account of the deployment and Braintree are one row.
    expect(percents).toEqual(defaults.slice(0, -2));
  });
});
