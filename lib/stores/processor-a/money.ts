/** ISO 4217 says otherwise of ISK and UGX, but the processor counts both in hundredths. */
const withoutMinorUnit = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '));
const withThousandths = new Set('BHD JOD KWD OMR TND'.split(' '));

/** The ISO code in capitals, as records show it. */
export const currencyOf = (currency: string): string => currency.toUpperCase();

/** An amount in the currency's smallest unit, as micros of the currency. */
export function microsOf(amount: number, currency: string): number {
  const code = currencyOf(currency);
  const exponent = withoutMinorUnit.has(code) ? 0 : withThousandths.has(code) ? 3 : 2;
  return Math.round(amount * 10 ** (6 - exponent));
}
