const microsPerUnit = 1_000_000;

/** Converts Braintree's decimal amount, such as `4.99`, to micros. */
export const toMicros = (amount: string): number => Math.round(Number(amount) * microsPerUnit);

/** Converts micros to a decimal amount with as many decimals as the currency has. */
export const toDecimalAmount = (micros: number, currency: string): string =>
  (micros / microsPerUnit).toFixed(countDecimals(currency));

/** Returns the smallest unit of a currency in micros. */
export const getSmallestUnit = (currency: string): number => microsPerUnit / 10 ** countDecimals(currency);

/**
 * Currencies without two decimals in ISO 4217. `Intl` counts the decimals in daily use, of which HUF, IDR and COP have
 * none.
 */
const decimals: Readonly<Record<string, number>> = Object.fromEntries([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0]),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3]),
]);

const countDecimals = (currency: string): number => decimals[currency] ?? 2;
