/**
 * Currencies with a fixed rate that the European Central Bank does not publish: units per US dollar or per euro.
 * @see https://www.imf.org/en/Publications/Annual-Report-on-Exchange-Arrangements-and-Exchange-Restrictions
 */
const unitsPerDollar: ReadonlyMap<string, string> = new Map([
  ['AED', '3.6725'],
  ['AWG', '1.79'],
  ['BBD', '2'],
  ['BHD', '0.376'],
  ['BMD', '1'],
  ['BSD', '1'],
  ['BZD', '2'],
  ['ERN', '15'],
  ['JOD', '0.709'],
  ['OMR', '0.3845'],
  ['PAB', '1'],
  ['QAR', '3.64'],
  ['SAR', '3.75'],
  ['XCD', '2.7'],
]);

const unitsPerEuro: ReadonlyMap<string, string> = new Map([
  ['BAM', '1.95583'],
  ['BGN', '1.95583'],
  ['CVE', '110.265'],
  ['HRK', '7.5345'],
  ['KMF', '491.96775'],
  ['XAF', '655.957'],
  ['XOF', '655.957'],
  ['XPF', '119.33174'],
]);

/** Returns the fixed rate of a currency. Undefined if its rate is not fixed. */
export function findPeg(currency: string): { readonly to: 'USD' | 'EUR'; readonly units: string } | undefined {
  const dollar = unitsPerDollar.get(currency);
  if (dollar !== undefined) return { to: 'USD', units: dollar };
  const euro = unitsPerEuro.get(currency);
  return euro === undefined ? undefined : { to: 'EUR', units: euro };
}
