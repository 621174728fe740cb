/** ISO 4217 says otherwise of ISK and UGX, but the processor counts both in hundredths. */
const zeroDecimalCurrencies = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '));
const threeDecimalCurrencies = new Set('BHD JOD KWD OMR TND'.split(' '));

/** The ISO code in capitals, as records show it. */
export const toCurrencyCode = (currency: string): string => currency.toUpperCase();

/** An amount in the currency's smallest unit, as micros of the currency. */
export function toMicros(amount: number, currency: string): number {
  const code = toCurrencyCode(currency);
  const exponent = zeroDecimalCurrencies.has(code) ? 0 : threeDecimalCurrencies.has(code) ? 3 : 2;
  return Math.round(amount * 10 ** (6 - exponent));
}
