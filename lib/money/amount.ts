interface Amount {
  readonly amountMicros?: number;
  readonly currency?: string;
}

/** The amount in US dollars, or null when there is no amount or no exchange rate for its currency. */
export function amountUSD({ amountMicros, currency }: Amount): number | null {
  if (amountMicros === undefined || currency !== 'USD') return null;
  return centsHalfEven(amountMicros) / 100;
}

/** Whole cents of an amount in micros; a half goes to the even neighbour. */
function centsHalfEven(micros: number): number {
  const cents = Math.floor(micros / 10_000);
  const rest = micros - cents * 10_000;
  if (rest === 5_000) return cents % 2 === 0 ? cents : cents + 1;
  return rest > 5_000 ? cents + 1 : cents;
}
