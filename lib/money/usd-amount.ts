import { parseFraction } from './rates.ts';

interface Amount {
  readonly amountMicros?: number;
  readonly currency?: string;
  /** Stored with the amount. */
  readonly usdRate?: string;
}

/** Sums in US dollars lack an amount without a rate. */
export const isUnconverted = (amount: Amount): boolean =>
  amount.amountMicros !== undefined &&
  amount.currency !== undefined &&
  amount.currency !== 'USD' &&
  amount.usdRate === undefined;

const microsPerCent = 10_000n;

/**
 * Converts an amount to US dollars. An amount in US dollars is exact; a converted one is rounded half to even to whole
 * cents. Returns null if the amount or its rate is missing.
 */
export function toAmountUsd({ amountMicros, currency, usdRate }: Amount): number | null {
  if (amountMicros === undefined || currency === undefined) return null;
  if (currency === 'USD') return amountMicros / 1_000_000;
  if (usdRate === undefined) return null;
  const [dollars, units] = parseFraction(usdRate);
  const cents = divideHalfEven(BigInt(Math.round(amountMicros)) * dollars, units * microsPerCent);
  return Number(cents) / 100;
}

/** Divides and rounds half to even. The divisor must be positive. */
function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const truncated = dividend / divisor;
  const floor = dividend < truncated * divisor ? truncated - 1n : truncated;
  const rest = 2n * (dividend - floor * divisor);
  if (rest === divisor) return floor % 2n === 0n ? floor : floor + 1n;
  return rest > divisor ? floor + 1n : floor;
}
