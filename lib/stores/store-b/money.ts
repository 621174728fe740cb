import type { Money } from './payloads.ts';

/** The amount in micros with its currency. */
export const toAmount = ({ currencyCode: currency, units = '0', nanos = 0 }: Money) => ({
  currency,
  amountMicros: Number(units) * 1_000_000 + Math.round(nanos / 1000),
});
