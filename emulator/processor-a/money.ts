import { controlError } from '../control-error.ts';

const decimals: Readonly<Record<string, number>> = Object.fromEntries([
  ...['BIF', 'CLP', 'DJF', 'GNF', 'JPY', 'KMF', 'KRW', 'MGA', 'PYG', 'RWF', 'VND', 'VUV', 'XAF', 'XOF', 'XPF'].map(
    (code) => [code, 0],
  ),
  ...['BHD', 'JOD', 'KWD', 'OMR', 'TND'].map((code) => [code, 3]),
]);

/** Micros as a count of the currency's smallest unit; refuses an amount that the currency cannot express. */
export function toMinorUnits(micros: number, currency: string): number {
  const amount = micros / 10 ** (6 - getDecimals(currency));
  if (!Number.isInteger(amount)) throw controlError(422, `priceMicros: ${micros} is no amount of ${currency}.`);
  return amount;
}

/** A count of the currency's smallest unit as people read it, such as `4.99 USD`. */
export const formatAmount = (amount: number, currency: string): string =>
  `${(amount / 10 ** getDecimals(currency)).toFixed(getDecimals(currency))} ${currency.toUpperCase()}`;

const getDecimals = (currency: string): number => decimals[currency.toUpperCase()] ?? 2;
