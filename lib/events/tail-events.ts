import { perContainer, type Service } from '../foundation/service.ts';
import { type EpochMillis, hourMs, minuteMs } from '../foundation/time.ts';
import type { EventRecord } from './event.ts';
import { listEventIdsSince, listEvents } from './event-list-table.ts';
import { findEvents } from './event-table.ts';

/** Events that become visible one after the other. */
export interface EventTail {
  /** Returns the events since the last call, oldest first: each event once, even if it becomes visible late. */
  poll(): Promise<EventRecord[]>;
}

/**
 * Time between the date of an event and its visibility: the timeout of its request or worker, and the lag of the index.
 */
const usualDelayMs = 3 * minuteMs;

/**
 * A retried store notification has the date of its receipt. The tail finds it if it was received at most so long ago.
 */
const maxDelayMs = hourMs;

/** Interval of the reads that cover the maximum delay. Their cost grows with the number of events. */
const lateReadIntervalMs = minuteMs;

interface TailOptions {
  /** Start of the first events; the newest `limit` ones that match by default. */
  readonly startdate?: EpochMillis;
  readonly limit: number;
  /** Calls `poll` again. Otherwise the tail does not read which earlier events the next calls must leave out. */
  readonly follow: boolean;
  /** Selects the events. Default: every event. */
  readonly matches?: (event: EventRecord) => boolean;
  /**
   * Called with the number of searched events if they contain less than `limit` matches and earlier ones are not
   * searched.
   */
  readonly onSearchLimit?: (searched: number) => void;
}

/** Bounds of the search for the newest matches: events of one read, and in total. */
export const searchBounds = perContainer(() => ({ pageSize: 1_000, maxSearched: 20_000 }));

/** Creates a tail that starts with the events since `startdate`, or with the newest `limit` ones that match. */
export function createEventTail(
  service: Service,
  appName: string,
  { startdate, limit, follow, matches, onSearchLimit }: TailOptions,
): EventTail {
  const startedAt = service.now();
  /** Dates of the returned events by id, as far as they can be read again. */
  const returned = new Map<string, EpochMillis>();
  /** Ids of earlier events. */
  let skipped: ReadonlySet<string> = new Set();
  let lastLateReadAt: EpochMillis | undefined;
  const returnOnce = (found: readonly EventRecord[]): EventRecord[] => {
    const unseen = found.filter(({ eventId }) => !returned.has(eventId));
    for (const { eventId, date } of unseen) returned.set(eventId, date);
    return unseen.sort((a, b) => a.date - b.date);
  };
  const readSince = async (since: EpochMillis): Promise<EventRecord[]> => {
    const ids = await listEventIdsSince(service, appName, since);
    const unseen = ids.filter((id) => !returned.has(id) && !skipped.has(id));
    return returnOnce(await findEvents(service, appName, unseen));
  };
  const readFirst = async (): Promise<EventRecord[]> => {
    lastLateReadAt = startedAt;
    if (startdate !== undefined) return await readSince(startdate);
    if (follow) skipped = new Set(await listEventIdsSince(service, appName, startedAt - maxDelayMs));
    return returnOnce(matches ? await searchNewest(matches) : await listEvents(service, appName, { limit, skip: 0 }));
  };
  const searchNewest = async (isMatch: (event: EventRecord) => boolean): Promise<EventRecord[]> => {
    const { pageSize, maxSearched } = searchBounds(service);
    const searched = new Set<string>();
    const found: EventRecord[] = [];
    for (let range = {}; found.length < limit; ) {
      if (searched.size >= maxSearched) {
        onSearchLimit?.(searched.size);
        break;
      }
      const page = await listEvents(service, appName, { ...range, limit: pageSize, skip: 0 });
      const unsearched = page.filter(({ eventId }) => !searched.has(eventId));
      const oldest = unsearched.at(-1);
      if (!oldest) break;
      for (const { eventId } of unsearched) searched.add(eventId);
      found.push(...unsearched.filter(isMatch));
      // Includes the other events of the same millisecond.
      range = { enddate: oldest.date + 1 };
    }
    return found.slice(0, limit);
  };
  const readNext = async (): Promise<EventRecord[]> => {
    if (lastLateReadAt === undefined) return await readFirst();
    const isLateRead = service.now() - lastLateReadAt >= lateReadIntervalMs;
    if (isLateRead) lastLateReadAt = service.now();
    const since = service.now() - (isLateRead ? maxDelayMs : usualDelayMs);
    for (const [eventId, date] of returned) if (date < service.now() - 2 * maxDelayMs) returned.delete(eventId);
    return await readSince(startdate === undefined ? since : Math.max(since, startdate));
  };
  return {
    async poll() {
      const found = await readNext();
      return matches ? found.filter(matches) : found;
    },
  };
}
