const microsPerUnit = 1_000_000;

/** Converts Braintree's decimal amount, such as `4.99`, to micros. */
export const toMicros = (amount: string): number => Math.round(Number(amount) * microsPerUnit);

/** Converts micros to a decimal amount with as many decimals as the currency has. */
export const toDecimalAmount = (micros: number, currency: string): string =>
  (micros / microsPerUnit).toFixed(countDecimals(currency));

/** Returns the smallest unit of a currency in micros. */
export const getSmallestUnit = (currency: string): number => microsPerUnit / 10 ** countDecimals(currency);

const countDecimals = (currency: string): number =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
