import { parseFraction } from './usd-rate.ts';

interface Amount {
  readonly amountMicros?: number;
  readonly currency?: string;
  /** Kept when the amount was taken in. */
  readonly usdRate?: string;
}

const microsPerCent = 10_000n;

/**
 * The amount in US dollars: dollars exactly, what was converted in whole cents, a half to the even neighbour. Null when there
 * is no amount or no exchange rate for its currency.
 */
export function toAmountUsd({ amountMicros, currency, usdRate }: Amount): number | null {
  if (amountMicros === undefined || currency === undefined) return null;
  if (currency === 'USD') return amountMicros / 1_000_000;
  if (usdRate === undefined) return null;
  const [dollars, units] = parseFraction(usdRate);
  const cents = divideHalfEven(BigInt(Math.round(amountMicros)) * dollars, units * microsPerCent);
  return Number(cents) / 100;
}

/** The quotient as a whole number; the divisor is positive. */
function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const truncated = dividend / divisor;
  const floor = dividend < truncated * divisor ? truncated - 1n : truncated;
  const rest = 2n * (dividend - floor * divisor);
  if (rest === divisor) return floor % 2n === 0n ? floor : floor + 1n;
  return rest > divisor ? floor + 1n : floor;
}
