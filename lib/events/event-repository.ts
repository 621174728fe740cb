import type { CursorPage } from '../shared/cursor-page.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { DetailedEvent, EventRecord, RawEvent } from './event.ts';
import type { ListedEvent } from './event-excerpt.ts';

/** A range of events: from `startdate` (included) to `enddate` (excluded). */
export interface EventRange {
  readonly startdate?: EpochMillis | undefined;
  readonly enddate?: EpochMillis | undefined;
}

/**
 * A page of the events in a range. Reads at most about 1,000 events, so it can have fewer rows and still have a next
 * page.
 */
interface EventQuery extends EventRange {
  readonly limit: number;
  /** The position of the previous page. */
  readonly cursor?: string | undefined;
  /** Whether the page includes events of reads. */
  readonly includesReads: boolean;
}

/** The events of all apps. Reads ignore events after their retention: DynamoDB deletes them some days late. */
export interface EventRepository {
  /**
   * Saves an event with its tags and, if passed, its raw view. Also saves the activity of the stores that it records.
   */
  save(appName: string, event: EventRecord, raw?: RawEvent): Promise<void>;
  /** Lists the newest events after the first `skip`. */
  list(appName: string, range: EventRange & { readonly limit: number; readonly skip: number }): Promise<EventRecord[]>;
  /**
   * Lists a page of events, newest first. A page without a cursor starts after the newest `skip` events, reads
   * included.
   */
  listPage(appName: string, query: EventQuery & { readonly skip?: number }): Promise<CursorPage<EventRecord>>;
  /** Lists the ids of all events since a date, in any order. */
  listIdsSince(appName: string, startdate: EpochMillis): Promise<string[]>;
  /** Returns the events that exist. An event of the last second can be missing. */
  findMany(appName: string, eventIds: readonly string[]): Promise<EventRecord[]>;
  /** Lists the newest events with at least one of the tags. Reads at most 1,000 index entries. */
  listByTags(appName: string, tags: readonly string[], limit: number): Promise<EventRecord[]>;
  /**
   * Lists a page of the events with at least one of the tags, newest first. Includes the event of the request `reqId`,
   * which is not tagged with its own id.
   */
  listPageByTags(
    appName: string,
    tags: readonly string[],
    query: EventQuery & { readonly reqId?: string },
  ): Promise<CursorPage<EventRecord>>;
  /** Lists the newest events of a customer. Reads at most 1,000 events that are tagged with the username. */
  listByUser(appName: string, username: string, limit: number): Promise<ListedEvent[]>;
  /**
   * Lists the newest events with the tag and an id that starts with the prefix, with their raw views. Reads at most
   * 1,000 index entries.
   */
  listByIdPrefix(appName: string, tag: string, query: { prefix: string; limit: number }): Promise<DetailedEvent[]>;
  find(appName: string, eventId: string): Promise<EventRecord | undefined>;
  /** Returns the raw view. Undefined if the event has none, which is the case for reads. */
  findRaw(appName: string, eventId: string): Promise<RawEvent | undefined>;
}
