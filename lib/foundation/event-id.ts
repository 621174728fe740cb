import { randomBytes } from 'node:crypto';
import type { EpochMillis } from './time.ts';

/**
 * Creates the id of an event: a UUID version 7, which contains the date of the event. `random` replaces the random
 * bytes, for the same id of a repetition.
 * @see https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-7
 */
export function createEventId(date: EpochMillis, random: Uint8Array = randomBytes(10)): string {
  const time = Math.trunc(date).toString(16).padStart(12, '0');
  const bytes = Buffer.from(random.subarray(0, 10));
  bytes[0] = 0x70 | ((bytes[0] ?? 0) & 0x0f);
  bytes[2] = 0x80 | ((bytes[2] ?? 0) & 0x3f);
  return formatUuid(time + bytes.toString('hex'));
}

/**
 * Creates the id of the event of a request. It ends with the last two groups of the request id of API Gateway, so that
 * one text finds the lines of the access log and of the functions, and the event. Ids of other formats are ignored.
 */
export function createRequestEventId(date: EpochMillis, requestId: string | undefined): string {
  const id = createEventId(date);
  const [, ending] = /-4[0-9a-f]{3}(-[89ab][0-9a-f]{3}-[0-9a-f]{12})$/.exec(requestId ?? '') ?? [];
  return ending === undefined ? id : id.slice(0, -ending.length) + ending;
}

/** Returns the 16 bytes of a UUID, for an item that is near a limit of its size. */
export const packEventId = (eventId: string): Uint8Array => Buffer.from(eventId.replaceAll('-', ''), 'hex');

/** Lambda delivers the bytes of a stream record as Base64 text. */
export const unpackEventId = (packed: Uint8Array | string): string =>
  formatUuid((typeof packed === 'string' ? Buffer.from(packed, 'base64') : Buffer.from(packed)).toString('hex'));

const formatUuid = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/**
 * Returns the id of the event that records an attempt. It names the delivery, so lists of attempts need no event item.
 */
export const toAttemptEventId = (deliveryId: string, startedAt: EpochMillis): string =>
  `${deliveryId}${attemptSeparator}${startedAt.toString(36)}`;

const attemptSeparator = '.';

/** Returns the prefix of the ids of a delivery's attempts. */
export const toAttemptPrefix = (deliveryId: string): string => `${deliveryId}${attemptSeparator}`;

/** Returns the delivery of an attempt by the id of its event. Undefined for other events. */
export const parseAttemptEventId = (eventId: string): string | undefined =>
  /^([0-9a-f]{32})\.[0-9a-z]{1,9}$/.exec(eventId)?.[1];

/** Returns the date that the id of an event contains. Undefined for any other id. */
export function parseEventDate(eventId: string): EpochMillis | undefined {
  const time = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.exec(eventId);
  if (time) return Number.parseInt(`${time[1]}${time[2]}`, 16);
  const [, attempt] = /^[0-9a-f]{32}\.([0-9a-z]{1,9})$/.exec(eventId) ?? [];
  return attempt === undefined ? undefined : Number.parseInt(attempt, 36);
}
