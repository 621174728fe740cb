import * as v from 'valibot';
import { ServiceError } from '../foundation/errors.ts';
import { toKey } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { CursorPage } from '../foundation/read-cursor-page.ts';
import { toTagValue } from '../foundation/redaction/redact-text.ts';
import type { Service } from '../foundation/service.ts';
import type { Item, Table } from '../foundation/table.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { NotificationItem } from '../purchases/announcement.ts';
import { Claim } from '../purchases/claims.ts';
import { TransactionLink } from '../purchases/owned-purchase-links.ts';
import { parsePurchaseItem } from '../purchases/purchase-item.ts';
import { parseTransactionItem } from '../purchases/transaction-item.ts';
import { type EventRecord, isRead } from './event.ts';
import { parseEventItem } from './event-table.ts';
import {
  createTimelineKey,
  formatTimelineKey,
  mergeTimeline,
  parseTimelineKey,
  type TimelineEntry,
  type TimelineKey,
  type TimelineSlice,
  toKindBound,
} from './merge-timeline.ts';
import { TimelineCreditEntry, type TimelineRow } from './timeline-row.ts';

interface TimelinePage {
  readonly limit: number;
  /** The position of the previous page. */
  readonly cursor?: string | undefined;
}

type Slice = TimelineSlice<TimelineRow>;
type Entry = TimelineEntry<TimelineRow>;

interface ReadRange {
  readonly position: TimelineKey | undefined;
  readonly limit: number;
}

/** Letters of the kinds in cursors. */
const kinds = { claim: 'C', credit: 'B', event: 'E', notification: 'N', payment: 'T' } as const;

/** Maximum number of tagged events in one page: apps read a customer much more often than the customer changes. */
const maxScannedEvents = 1_000;
const eventBatchSize = 200;

const ListedNotification = v.pick(NotificationItem, ['date', 'reason']);

/** Lists the events, payments and changed credits of a customer. */
export async function listCustomerTimeline(
  { table, now }: Service,
  appName: string,
  username: string,
  page: TimelinePage,
): Promise<CursorPage<TimelineRow>> {
  const range = toRange(page);
  const tag = toTagValue(username);
  // A merge is in the timelines of both customers.
  const isOwn = ({ applicationUsername, type, content, outcome }: EventRecord) =>
    // The entry of a change of credits says more than the event of its request.
    (applicationUsername === username && !(type.startsWith('credit.') && outcome.ok)) ||
    (type === 'customer.merged' && content.tags[tag] === '_A');
  const slices = await Promise.all([
    readEvents(table, { appName, tag, matches: isOwn, now: now() }, range),
    readOwnedPayments(table, { appName, username }, range),
    ...creditAccounts.map(async (account) => await readCredits(table, { appName, username, account }, range)),
  ]);
  return mergeTimeline(slices, page.limit);
}

/** Lists the lifecycle notifications, payments, claims and events of a purchase. */
export async function listPurchaseTimeline(
  { table, now }: Service,
  appName: string,
  purchaseId: string,
  page: TimelinePage,
): Promise<CursorPage<TimelineRow>> {
  const range = toRange(page);
  const tag = toTagValue(purchaseId);
  // The first transaction of a purchase of the App Store has the id of the purchase.
  const isTagged = ({ content }: EventRecord) => content.tags[tag] === '_P' || content.tags[tag] === '_T';
  const partition = keys.purchaseKey.partition(appName, purchaseId);
  const slices = await Promise.all([
    readEvents(table, { appName, tag, matches: isTagged, now: now() }, range),
    readNotifications(table, partition, range),
    readSmallList(table, { partition, prefix: keys.transactionKey.sortKey(), toEntry: toPaymentEntry }, range),
    readSmallList(table, { partition, prefix: keys.claimKey.sortKey(), toEntry: toClaimEntry }, range),
  ]);
  return mergeTimeline(slices, page.limit);
}

function toRange({ cursor, limit }: TimelinePage): ReadRange {
  const position = cursor === undefined ? undefined : parseTimelineKey(cursor);
  if (cursor !== undefined && !position)
    throw new ServiceError('InvalidPayload', 'cursor: expected the nextCursor of the previous page.');
  return { position, limit };
}

interface EventSource {
  readonly appName: string;
  readonly tag: string;
  readonly matches: (event: EventRecord) => boolean;
  readonly now: EpochMillis;
}

/** Reads the tagged events until `limit` of them are not reads. */
async function readEvents(table: Table, source: EventSource, { position, limit }: ReadRange): Promise<Slice> {
  const partition = keys.tagKey.partition(source.appName, source.tag);
  const entries: Entry[] = [];
  let until = toKindBound(kinds.event, position);
  for (let scanned = 0; scanned < maxScannedEvents && entries.length < limit; ) {
    const tags = await readBefore(table, { partition, until, limit: eventBatchSize });
    const events = await loadEvents(table, source, tags);
    for (const { sk } of tags) {
      const event = events.get(keys.tagKey.parseSortKey(String(sk)).eventId);
      if (event && !isRead(event) && source.matches(event))
        entries.push({ key: toTimelineKey(kinds.event, String(sk)), row: { type: 'event', event } });
      until = String(sk);
      if (entries.length === limit) break;
    }
    if (tags.length < eventBatchSize && entries.length < limit) return { entries };
    scanned += tags.length;
  }
  return { entries, readTo: toTimelineKey(kinds.event, until) };
}

/** Converts a sort key without its prefix, `<date>#<id>`. */
function toTimelineKey(kind: string, sk: string): string {
  const hash = sk.indexOf('#');
  return formatTimelineKey({ kind, date: sk.slice(0, hash), id: sk.slice(hash + 1) });
}

async function loadEvents(
  table: Table,
  { appName, now }: EventSource,
  tags: readonly Item[],
): Promise<ReadonlyMap<string, EventRecord>> {
  const eventKeys = tags.map(({ sk }) => keys.eventKey(appName, keys.tagKey.parseSortKey(String(sk)).eventId));
  const items = await table.batchGet(eventKeys, { isEventuallyConsistent: true });
  const live = items.filter(({ ttl }) => Number(ttl) * 1000 > now);
  const events = await Promise.all(live.map(parseEventItem));
  return new Map(events.map((event) => [event.eventId, event]));
}

interface PrefixedRange {
  readonly partition: string;
  /** Excluded. */
  readonly until: string;
  readonly prefix?: string;
  readonly limit: number;
}

/** Reads the items whose sort key is the prefix and `<date>#<id>` before the bound, newest first. */
async function readBefore(table: Table, { partition, until, prefix = '', limit }: PrefixedRange): Promise<Item[]> {
  const items = await table.query({
    partition,
    between: [`${prefix}0`, `${prefix}${until}`],
    newestFirst: true,
    limit: limit + 1,
    isEventuallyConsistent: true,
  });
  return items.filter(({ sk }) => sk !== `${prefix}${until}`).slice(0, limit);
}

async function readNotifications(table: Table, partition: string, { position, limit }: ReadRange): Promise<Slice> {
  const until = toKindBound(kinds.notification, position);
  const items = await readBefore(table, { partition, until, prefix: keys.notificationKey.sortKey(), limit });
  const entries = items.map((item): Entry => {
    const key = toTimelineKey(kinds.notification, String(item.sk).slice(keys.notificationKey.sortKey().length));
    return { key, row: { type: 'notification', ...parse(ListedNotification, item, 'DatabaseError') } };
  });
  return { entries, ...(items.length === limit && { readTo: entries.at(-1)?.key }) };
}

/** Reads the payments of a customer's purchases. Leaves out payments of purchases that the customer has lost. */
async function readOwnedPayments(
  table: Table,
  { appName, username }: { readonly appName: string; readonly username: string },
  { position, limit }: ReadRange,
): Promise<Slice> {
  const partition = keys.customerKey.partition(appName, username);
  const until = toKindBound(kinds.payment, position);
  const links = await readBefore(table, { partition, until, prefix: keys.ownedTransactionKey.sortKey(), limit });
  const parsed = links.map((link) => ({ sk: String(link.sk), ...parse(TransactionLink, link, 'DatabaseError') }));
  const purchaseIds = [...new Set(parsed.map(({ purchaseId }) => purchaseId))];
  const [purchases, transactions] = await Promise.all([
    table.batchGet(purchaseIds.map((id) => keys.purchaseKey(appName, id))),
    table.batchGet(
      parsed.map(({ purchaseId, transactionId }) => keys.transactionKey(appName, purchaseId, transactionId)),
    ),
  ]);
  const ownedIds = new Set(
    purchases
      .map(parsePurchaseItem)
      .flatMap((stored) => (stored.entitledUsers.includes(username) ? stored.purchase.purchaseId : [])),
  );
  const byId = new Map(
    transactions.map(parseTransactionItem).map((entry) => [`${entry.purchaseId}\n${entry.transactionId}`, entry]),
  );
  const entries = parsed.flatMap(({ sk, purchaseId, transactionId }): Entry[] => {
    const transaction = byId.get(`${purchaseId}\n${transactionId}`);
    return transaction && ownedIds.has(purchaseId)
      ? [{ key: toPaymentKey(sk), row: { type: 'payment', transaction } }]
      : [];
  });
  const last = parsed.at(-1);
  return { entries, ...(links.length === limit && last && { readTo: toPaymentKey(last.sk) }) };
}

/** The accounts of production and of the sandbox. */
const creditAccounts = ['P', 'S'];

async function readCredits(
  table: Table,
  { appName, username, account }: { readonly appName: string; readonly username: string; readonly account: string },
  { position, limit }: ReadRange,
): Promise<Slice> {
  const listed = await table.query({
    partition: keys.creditEntryListKeys.partition(appName, account, username),
    index: 'byCreated',
    before: toKindBound(kinds.credit, position),
    limit,
    newestFirst: true,
  });
  const items = new Map((await table.batchGet(listed.map(toKey))).map((item) => [String(item.sk), item]));
  const entries = listed.flatMap(({ sk, createdSk }): Entry[] => {
    const item = items.get(String(sk));
    if (!item) return [];
    const entry = parse(TimelineCreditEntry, item, 'DatabaseError');
    return [{ key: toTimelineKey(kinds.credit, String(createdSk)), row: { type: 'credit', entry } }];
  });
  const last = listed.at(-1);
  return {
    entries,
    ...(listed.length === limit && last && { readTo: toTimelineKey(kinds.credit, String(last.createdSk)) }),
  };
}

/** Converts the sort key of a link, `T#<date>#<digest>`. */
function toPaymentKey(sk: string): string {
  const [, date = '', id = ''] = sk.split('#');
  return formatTimelineKey({ date, kind: kinds.payment, id });
}

interface SmallList {
  readonly partition: string;
  readonly prefix: string;
  readonly toEntry: (item: Item) => Entry;
}

/** Reads a whole list of a purchase, whose sort keys do not contain a date. */
async function readSmallList(
  table: Table,
  { partition, prefix, toEntry }: SmallList,
  { position }: ReadRange,
): Promise<Slice> {
  const items = await table.query({ partition, prefix, isEventuallyConsistent: true });
  const bound = position && formatTimelineKey(position);
  return { entries: items.map(toEntry).filter(({ key }) => bound === undefined || key < bound) };
}

function toPaymentEntry(item: Item): Entry {
  const transaction = parseTransactionItem(item);
  const { purchaseDate, transactionId } = transaction;
  return { key: createTimelineKey(kinds.payment, purchaseDate, transactionId), row: { type: 'payment', transaction } };
}

function toClaimEntry(item: Item): Entry {
  const claim = parse(Claim, item, 'DatabaseError');
  return { key: createTimelineKey(kinds.claim, claim.lastClaimedAt, claim.username), row: { type: 'claim', claim } };
}
