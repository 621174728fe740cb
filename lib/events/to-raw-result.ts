import type { EventRawResult } from '../api/event-records.ts';
import type { EventRecord, RawEvent } from './event.ts';

/** The raw view of an event; of a request that only read, it is what the event itself tells. */
export function toRawResult({ eventId, date, type, route, outcome }: EventRecord, raw?: RawEvent): EventRawResult {
  const known = { eventId, date: new Date(date).toISOString(), type };
  if (raw) return { ...known, ...raw };
  const [method, template] = route?.split(' ') ?? [];
  return {
    ...known,
    ...(method && template && { request: { method, route: template } }),
    response: { ...outcome },
    externalRequests: [],
  };
}
