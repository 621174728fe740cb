import { type EpochMillis, secondMs } from '../../foundation/time.ts';

/**
 * Currencies whose API amounts are whole units. Stripe counts ISK and UGX in hundredths, unlike ISO 4217.
 *
 * @see https://docs.stripe.com/currencies#zero-decimal
 */
const zeroDecimalCurrencies = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '));
const threeDecimalCurrencies = new Set('BHD JOD KWD OMR TND'.split(' '));

/** Converts Stripe's lower-case code to the ISO 4217 code. */
export const toCurrencyCode = (currency: string): string => currency.toUpperCase();

/** Converts an amount in the currency's smallest unit to micros. */
export function toMicros(amount: number, currency: string): number {
  const code = toCurrencyCode(currency);
  const exponent = zeroDecimalCurrencies.has(code) ? 0 : threeDecimalCurrencies.has(code) ? 3 : 2;
  return Math.round(amount * 10 ** (6 - exponent));
}

/** Converts micros to an amount in the currency's smallest unit. */
export const toMinorUnits = (micros: number, currency: string): number => Math.round(micros / toMicros(1, currency));

type OmitNullish<T> = { [K in keyof T]?: Exclude<T[K], undefined | null> };

/** Copies a record without the members that are null or undefined. */
export const omitNullish = <T extends object>(record: T): OmitNullish<T> =>
  Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined && value !== null),
  ) as OmitNullish<T>;

/** Converts Stripe's epoch seconds. */
export const toMillis = (seconds: number): EpochMillis => seconds * secondMs;

export const toOptionalMillis = (seconds: number | null | undefined): EpochMillis | undefined =>
  seconds === null || seconds === undefined ? undefined : toMillis(seconds);
