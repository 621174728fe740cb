import type { androidpublisher_v3 } from '@googleapis/androidpublisher';

/** An amount as Google writes it: what is zero is left out, but for the units. */
export function toMoney(micros: number, currencyCode: string): androidpublisher_v3.Schema$Money {
  const nanos = (micros % 1_000_000) * 1000;
  return { currencyCode, units: String(Math.floor(micros / 1_000_000)), ...(nanos !== 0 && { nanos }) };
}

/** A moment as Google writes it. */
export const toTimestamp = (at: number): string => new Date(at).toISOString();
