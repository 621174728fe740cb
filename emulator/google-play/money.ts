import type { androidpublisher_v3 } from '@googleapis/androidpublisher';

/** Converts an amount to Google's `Money`. Zero nanos are omitted. */
export function toMoney(micros: number, currencyCode: string): androidpublisher_v3.Schema$Money {
  const nanos = (micros % 1_000_000) * 1_000;
  return { currencyCode, units: String(Math.floor(micros / 1_000_000)), ...(nanos !== 0 && { nanos }) };
}
