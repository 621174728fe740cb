import * as v from 'valibot';
import type { EpochMillis } from '../../shared/time.ts';

/** A text, null or nothing. */
export const NullishText = v.nullish(v.string());

const earliest = Date.parse('1990-01-01T00:00:00Z');
const noDate = Date.parse('9999-01-01T00:00:00Z');

/**
 * A moment as Microsoft writes it, to the ten millionth of a second. Undefined for none: .NET writes an unset date as the
 * year 1, and the end of what does not end as the year 9999.
 */
export function parseTimestamp(text: string | null | undefined): EpochMillis | undefined {
  const at = Date.parse(withUtcZone(text ?? ''));
  return at >= earliest && at < noDate ? at : undefined;
}

/** All dates are in UTC, also those that do not say so. */
const withUtcZone = (text: string): string => (/T[\d:.]+$/.test(text) ? `${text}Z` : text);
