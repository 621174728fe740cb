import * as v from 'valibot';
import type { EpochMillis } from '../../foundation/time.ts';

/** Microsoft's services write a missing text as null or omit it. */
export const NullishText = v.nullish(v.string());

const earliest = Date.parse('1990-01-01T00:00:00Z');
const noDate = Date.parse('9999-01-01T00:00:00Z');

/**
 * Parses a timestamp. Returns undefined for an invalid one and for .NET's substitutes of a missing date: the year 1 is
 * an unset date, the year 9999 an open end.
 */
export function parseTimestamp(text: string | null | undefined): EpochMillis | undefined {
  const time = Date.parse(withUtcZone(text ?? ''));
  return time >= earliest && time < noDate ? time : undefined;
}

/** Appends the UTC zone to a timestamp without a zone. */
const withUtcZone = (text: string): string => (/T[\d:.]{1,30}$/.test(text) ? `${text}Z` : text);
