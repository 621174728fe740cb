import type { ValidationRequest } from '../store.ts';
import type { Money } from './payloads.ts';

const microsPerUnit = 1_000_000;
const nanosPerMicro = 1_000;

/** Converts whole units and nanos to micros. */
export const toAmount = ({ currencyCode: currency, units = '0', nanos = 0 }: Money) => ({
  currency,
  amountMicros: Number(units) * microsPerUnit + Math.round(nanos / nanosPerMicro),
});

/** Computes the amount that the client reports; empty if the request lacks a price. */
export const toReportedAmount = (
  { priceMicros, currency }: Pick<ValidationRequest, 'priceMicros' | 'currency'>,
  quantity: number,
) =>
  priceMicros === undefined || currency === undefined
    ? {}
    : { currency, amountMicros: priceMicros * quantity, isReportedAmount: true };
