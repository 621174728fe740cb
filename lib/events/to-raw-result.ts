import { toIso } from '../foundation/time.ts';
import type { EventRawResult } from './contract.ts';
import type { EventRecord, RawEvent } from './event.ts';

/** Converts an event to its raw view. Reads lack it; the result then has only what the event contains. */
export function toRawResult({ eventId, date, type, route, outcome }: EventRecord, raw?: RawEvent): EventRawResult {
  const base = { eventId, date: toIso(date), type };
  if (raw) return { ...base, ...raw };
  const [method, template] = route?.split(' ') ?? [];
  return {
    ...base,
    ...(method && template && { request: { method, route: template } }),
    response: { ...outcome },
    externalRequests: [],
  };
}
