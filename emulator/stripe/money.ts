import { controlError } from '../control-error.ts';

/** @see https://docs.stripe.com/currencies#zero-decimal */
const decimals: Readonly<Record<string, number>> = Object.fromEntries([
  ...['BIF', 'CLP', 'DJF', 'GNF', 'JPY', 'KMF', 'KRW', 'MGA', 'PYG', 'RWF', 'VND', 'VUV', 'XAF', 'XOF', 'XPF'].map(
    (code) => [code, 0],
  ),
  ...['BHD', 'JOD', 'KWD', 'OMR', 'TND'].map((code) => [code, 3]),
]);

/** Converts micros to the currency's smallest unit. Throws 422 if the amount in the field has too many decimals. */
export function toMinorUnits(micros: number, currency: string, field = 'priceMicros'): number {
  const amount = micros / 10 ** (6 - getDecimals(currency));
  if (!Number.isInteger(amount)) throw controlError(422, `${field} is not a valid amount in ${currency}: ${micros}.`);
  return amount;
}

/** Converts an amount in the currency's smallest unit to micros. */
export const toAmountMicros = (amount: number, currency: string): number =>
  Math.round(amount * 10 ** (6 - getDecimals(currency)));

/** Formats an amount in the currency's smallest unit, such as `4.99 USD`. */
export const formatAmount = (amount: number, currency: string): string =>
  `${(amount / 10 ** getDecimals(currency)).toFixed(getDecimals(currency))} ${currency.toUpperCase()}`;

const getDecimals = (currency: string): number => decimals[currency.toUpperCase()] ?? 2;
