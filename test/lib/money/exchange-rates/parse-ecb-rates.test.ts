import { describe, expect, it } from '@jest/globals';
import { parseEcbRates } from '../../../../lib/money/exchange-rates/parse-ecb-rates.ts';

const sample = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
	<gesmes:subject>Reference rates</gesmes:subject>
	<gesmes:Sender>
		<gesmes:name>European Central Bank</gesmes:name>
	</gesmes:Sender>
	<Cube>
		<Cube time='2024-12-31'>
			<Cube currency='USD' rate='1.0389'/>
			<Cube currency='JPY' rate='163.06'/>
			</Cube>
	</Cube>
</gesmes:Envelope>`;

describe('readReferenceRates', () => {
  it('reads the file of a day', () => {
    expect(parseEcbRates(sample)).toEqual([{ date: '2024-12-31', perEuro: { USD: '1.0389', JPY: '163.06' } }]);
  });

  it('reads several days on one line with the other quotes', () => {
    const days =
      '<Cube time="2024-12-30"><Cube currency="USD" rate="1.0444"/></Cube><Cube time="2024-12-27"><Cube currency="USD" rate="1.0435"/></Cube>';
    const xml = sample.replace(/<Cube>[\s\S]*<\/Cube>/, `<Cube>${days}</Cube>`);
    expect(parseEcbRates(xml).map(({ date }) => date)).toEqual(['2024-12-30', '2024-12-27']);
  });

  it.each([
    ['an HTML page', '<!DOCTYPE html><html><body>Sorry</body></html>'],
    ['nothing', ''],
    ['a file cut off', sample.slice(0, -60)],
    ['a negative rate', sample.replace('163.06', '-163.06')],
    ['a rate of zero', sample.replace('163.06', '0.00')],
    ['a rate with an exponent', sample.replace('163.06', '1e9')],
    ['a rate that is missing', sample.replace('163.06', 'N/A')],
    ['a day that is on no calendar', sample.replace('12-31', '02-31')],
    ['a day without dollars', sample.replace('USD', 'GBP')],
    ['a currency told twice', sample.replace('JPY', 'USD')],
    ['a currency that is none', sample.replace('JPY', '__proto__')],
    ['an element more', sample.replace("<Cube currency='JPY'", "<Note/><Cube currency='JPY'")],
    ['no days', sample.replace(/<Cube time[\s\S]*<\/Cube>\s*<\/Cube>/, '</Cube>')],
  ])('refuses %s', (_what, xml) => {
    expect(() => parseEcbRates(xml)).toThrow('The exchange rates could not be read.');
  });
});
