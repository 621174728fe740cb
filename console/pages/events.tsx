import { useEffect, useRef, useState } from 'preact/hooks';
import type { EventSearchResult } from '../../lib/events/contract.ts';
import { callApi } from '../api/client.ts';
import type { CursorPage } from '../api/cursor-pages.ts';
import { endpoints } from '../api/endpoints.ts';
import { useApi, useLoad } from '../api/use-api.ts';
import { useAutomaticPages, useCursorPages } from '../api/use-cursor-pages.ts';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Form, SelectField, TextField, ToggleField } from '../components/fields.tsx';
import { Page, Row, Section } from '../components/layout.tsx';
import { CopyItem } from '../components/menu.tsx';
import { EmptyState } from '../components/notice.tsx';
import { Badge, CopyId, DateTime, None } from '../components/values.tsx';
import { formatNumber, formatPlatform } from '../format.ts';
import { changeQuery, Link, type RouteQuery } from '../router.tsx';
import { buildCustomerColumn } from './customer-column.tsx';
import { eventKinds, matchesFilters } from './event-filters.ts';
import { describeEventType } from './event-types.ts';
import type { PageProps } from './page.ts';
import { toRangeEnd } from './to-range-end.ts';

const pageSize = 100;
const liveRefreshMs = 2_000;
/** Rows that a live tail keeps. */
const maxLiveRows = 500;
/**
 * Time between the date of an event and its visibility: the timeout of its request or worker, and the lag of the index.
 */
const usualDelayMs = 180_000;

/** Latest events, newest first, or the events with a tag. */
export function EventsPage({ query }: PageProps) {
  const isLive = query.live === 'true';
  return (
    <Page
      title="Events"
      subtitle="Every request, store notification and webhook, with its calls to stores."
      actions={
        <Button
          icon="refresh"
          isPressed={isLive}
          onClick={() => changeQuery({ live: isLive ? undefined : 'true', until: undefined })}
        >
          {isLive ? 'Live' : 'Live tail'}
        </Button>
      }
    >
      <Section title={getTitle(query)}>
        <Filters query={query} />
        <EventTable key={JSON.stringify(query)} query={query} />
      </Section>
    </Page>
  );
}

const getTitle = ({ tag }: RouteQuery): string => (tag ? `Events with the tag ${tag}` : 'Latest events');

function EventTable({ query }: { readonly query: RouteQuery }) {
  const { newest, pages } = useEvents(query);
  const { rows, hasOlder, loadOlder, isLoadingOlder, error } = pages;
  const isLive = query.live === 'true';
  const isSearching = useAutomaticPages(pages, rows?.length === 0);
  return (
    <>
      <DataTable
        caption={getTitle(query)}
        columns={columns}
        rows={isSearching ? undefined : rows}
        getKey={({ eventId }) => eventId}
        renderMenu={({ eventId, context: { applicationUsername: user } }) => (
          <>
            <Link to="/events/:id" params={{ id: eventId }}>
              Open the event
            </Link>
            {user !== undefined && (
              <Link to="/events" query={{ tag: user }}>
                Show the events of the customer
              </Link>
            )}
            <CopyItem value={eventId} name="event id" />
          </>
        )}
        error={newest.error ?? error}
        onRetry={newest.reload}
        empty={<NoEvents query={query} hasOlder={hasOlder} />}
        fileName="events"
      />
      {hasOlder && rows && !isLive && (
        <Row>
          <Button onClick={loadOlder} isBusy={isLoadingOlder}>
            Show older events
          </Button>
          {rows.length > 0 && (
            <p class="quiet">The table and the CSV file have the latest {formatNumber(rows.length)} events.</p>
          )}
        </Row>
      )}
    </>
  );
}

function useEvents(query: RouteQuery) {
  const isLive = query.live === 'true';
  const tailStart = useRef<number | undefined>(undefined);
  const newest = useLoad(
    async (signal) => await fetchPage(query, { signal, tailStart: tailStart.current }),
    JSON.stringify(query),
    isLive ? { refreshMs: liveRefreshMs } : {},
  );
  const pages = useCursorPages({
    newest: newest.data,
    loadPage: async (cursor) => await fetchPage(query, { cursor }),
    getId: ({ eventId }) => eventId,
    ...(isLive && { maxRows: maxLiveRows }),
  });
  const latest = pages.rows?.[0]?.context.eventDateMs;
  tailStart.current = isLive && latest !== undefined ? latest - usualDelayMs : undefined;
  return { newest, pages };
}

interface PageRequest {
  readonly cursor?: string;
  readonly signal?: AbortSignal;
  /** Epoch milliseconds. A live tail requests no older events. */
  readonly tailStart?: number | undefined;
}

async function fetchPage(
  query: RouteQuery,
  { cursor, signal, tailStart }: PageRequest,
): Promise<CursorPage<EventSearchResult>> {
  const { tag = '', from = '', until, reads } = query;
  const isRecent = tailStart !== undefined && !(Date.parse(from) > tailStart);
  const startdate = isRecent ? new Date(tailStart).toISOString() : from;
  const range = {
    startdate,
    enddate: until && toRangeEnd(until),
    reads: reads === 'true' ? undefined : 'false',
    cursor,
  };
  const options = signal ? { signal } : {};
  const page =
    tag === ''
      ? await callApi(endpoints.listEvents, { query: { ...range, limit: pageSize } }, options)
      : await callApi(endpoints.searchEvents, { params: { tag }, query: range }, options);
  const rows = page.rows.filter((event) => matchesFilters(event, query));
  return { rows, nextCursor: page.nextCursor, isRecent };
}

function Filters({ query }: { readonly query: RouteQuery }) {
  const [tag, setTag] = useState(query.tag ?? '');
  const [from, setFrom] = useState(query.from ?? '');
  const [until, setUntil] = useState(query.until ?? '');
  const stores = useApi(endpoints.getApp, {}).data?.stores.filter(({ isConnected }) => isConnected) ?? [];
  // A link or a navigation back changes the query only.
  useEffect(() => setTag(query.tag ?? ''), [query.tag]);
  useEffect(() => setFrom(query.from ?? ''), [query.from]);
  useEffect(() => setUntil(query.until ?? ''), [query.until]);
  const apply = () => changeQuery({ tag: tag.trim(), from, until });
  return (
    <Form label="Filters" onSubmit={apply}>
      <Row>
        <TextField
          label="Tag"
          type="search"
          value={tag}
          onInput={setTag}
          placeholder="Customer, purchase, transaction, request id or error"
          canGrow
        />
        <SelectField
          label="Kind"
          value={eventKinds.find(([id]) => id === query.kind)?.[0] ?? ''}
          options={eventKinds}
          onChange={(kind) => changeQuery({ kind })}
        />
        <SelectField
          label="Store"
          value={query.store ?? ''}
          options={[['', 'All'], ...stores.map(({ platform }) => [platform, formatPlatform(platform)] as const)]}
          onChange={(store) => changeQuery({ store })}
        />
        <TextField label="From" type="date" value={from} onInput={setFrom} />
        <TextField label="Until" type="date" value={until} onInput={setUntil} />
        <Button type="submit" icon="search">
          Search
        </Button>
        <Button
          isPressed={query.tag === 'error'}
          onClick={() => changeQuery({ tag: query.tag === 'error' ? '' : 'error' })}
        >
          Failures
        </Button>
        <ToggleField
          label="Show reads"
          isOn={query.reads === 'true'}
          onChange={(isOn) => changeQuery({ reads: isOn ? 'true' : undefined }, { isReplacing: true })}
        />
      </Row>
    </Form>
  );
}

function NoEvents({ query, hasOlder }: { readonly query: RouteQuery; readonly hasOlder: boolean }) {
  const hidesReads = query.reads !== 'true';
  const hint = hidesReads && ' Reads are hidden: select “Show reads” to include them.';
  const isSelected = Boolean(query.kind || query.store);
  if (hasOlder && isSelected)
    return <EmptyState title="None of the latest events matches.">There are older events.</EmptyState>;
  if (isSelected) return <EmptyState title="No event matches the filters.">{hint}</EmptyState>;
  if (hasOlder) return <EmptyState title="The latest events are reads.">{hint} There are older events.</EmptyState>;
  if (query.tag === 'error')
    return <EmptyState title="No request, notification or webhook has failed.">{hint}</EmptyState>;
  if (query.tag)
    return (
      <EmptyState title={`No event has the tag ${query.tag}.`}>
        Search for the whole username, purchase id, transaction id or request id. Events are deleted after 90 days,
        unless the deployment has another retention.{hint}
      </EmptyState>
    );
  return (
    <EmptyState title="No events in this period.">Validate a receipt, and its event appears here.{hint}</EmptyState>
  );
}

export const hasFailed = ({ content }: Pick<EventSearchResult, 'content'>): boolean => content.tags.error === '_X';

const columns: readonly Column<EventSearchResult>[] = [
  {
    title: 'Event',
    render: ({ eventId, context, content }) => (
      <>
        <Link to="/events/:id" params={{ id: eventId }}>
          {describeEventType(context.eventType, hasFailed({ content }))}
        </Link>
        {listValues(content.notifications, 'type').map((type) => (
          <span key={type} class="quiet mono">{` ${type}`}</span>
        ))}
      </>
    ),
    csv: ({ context }) => context.eventType,
  },
  {
    title: 'Result',
    render: (event) => (hasFailed(event) ? <Badge tone="bad">Failed</Badge> : <Badge tone="good">OK</Badge>),
    csv: (event) => (hasFailed(event) ? 'failed' : 'ok'),
  },
  {
    title: 'Time',
    render: ({ context }) => <DateTime value={context.eventDate} kind="second" />,
    csv: ({ context }) => context.eventDate,
  },
  buildCustomerColumn(({ context }) => context.applicationUsername),
  {
    title: 'Products',
    isHidden: true,
    render: ({ content }) => listValues(content.products, 'id').join(', ') || <None />,
    csv: ({ content }) => listValues(content.products, 'id').join(' '),
  },
  { title: 'Key', render: ({ context }) => context.key?.name ?? <None />, csv: ({ context }) => context.key?.name },
  {
    title: 'Event id',
    isHidden: true,
    render: ({ eventId }) => <CopyId value={eventId} label="event id" />,
    csv: ({ eventId }) => eventId,
  },
];

/** Lists the different values of a field of the rows. */
const listValues = (rows: readonly Readonly<Record<string, unknown>>[], name: string): string[] => [
  ...new Set(rows.map((row) => String(row[name] ?? '')).filter((value) => value !== '')),
];
