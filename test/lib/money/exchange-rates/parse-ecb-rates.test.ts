import { describe, expect, it } from '@jest/globals';
import { parseEcbRates } from '../../../../lib/money/exchange-rates/parse-ecb-rates.ts';

const header = 'KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE';
const row = (currency: string, date: string, rate: string): string =>
  `EXR.D.${currency}.EUR.SP00.A,D,${currency},EUR,SP00,A,${date},${rate}`;
const sample = [header, row('JPY', '2024-12-31', '163.06'), row('USD', '2024-12-31', '1.0389')].join('\r\n');

describe('parseEcbRates', () => {
  it('parses the rates of a day', () => {
    expect(parseEcbRates(sample)).toEqual([{ date: '2024-12-31', perEuro: { USD: '1.0389', JPY: '163.06' } }]);
  });

  it('parses several days, with any line ending', () => {
    const rows = [row('USD', '2024-12-27', '1.0435'), row('USD', '2024-12-30', '1.0444')];
    const expected = ['2024-12-27', '2024-12-30'];
    expect(parseEcbRates([header, ...rows, ''].join('\n')).map(({ date }) => date)).toEqual(expected);
    expect(parseEcbRates([header, ...rows, ''].join('\r\n')).map(({ date }) => date)).toEqual(expected);
  });

  it('finds the columns by name', () => {
    const csv = 'OBS_VALUE,TIME_PERIOD,CURRENCY_DENOM,CURRENCY\n1.0389,2024-12-31,EUR,USD';
    expect(parseEcbRates(csv)).toEqual([{ date: '2024-12-31', perEuro: { USD: '1.0389' } }]);
  });

  it.each(['', 'NaN'])('leaves out a holiday, whose observations have the value "%s"', (value) => {
    const holiday = [row('JPY', '2025-01-01', value), row('USD', '2025-01-01', value)];
    expect(parseEcbRates([sample, ...holiday].join('\r\n')).map(({ date }) => date)).toEqual(['2024-12-31']);
  });

  it.each([
    ['an HTML page', '<!DOCTYPE html><html><body>Sorry</body></html>'],
    ['an empty response', ''],
    ['a truncated response', sample.slice(0, -60)],
    ['a negative rate', sample.replace('163.06', '-163.06')],
    ['a rate of zero', sample.replace('163.06', '0.00')],
    ['a rate with an exponent', sample.replace('163.06', '1e9')],
    ['a rate that is not a number', sample.replace('163.06', 'N/A')],
    ['a day that does not exist', sample.replaceAll('12-31', '02-31')],
    ['a day without US dollars', sample.replaceAll('USD', 'GBP')],
    ['a repeated currency', sample.replaceAll('JPY', 'USD')],
    ['an invalid currency code', sample.replaceAll('JPY', '__proto__')],
    ['an additional column in a row', sample.replace('163.06', '163.06,A')],
    ['a rate against another currency', sample.replace('JPY,EUR', 'JPY,GBP')],
    ['a missing column', sample.replace('OBS_VALUE', 'VALUE')],
    ['a header without rows', header],
  ])('rejects %s', (_what, csv) => {
    expect(() => parseEcbRates(csv)).toThrow('The exchange rates of the European Central Bank are invalid.');
  });
});
