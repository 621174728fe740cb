import { useState } from 'preact/hooks';
import type { EventSearchResult } from '../../lib/api/event-records.ts';
import { endpoints } from '../api/endpoints.ts';
import { type Loaded, useApi } from '../api/use-api.ts';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Form, TextField, ToggleField } from '../components/fields.tsx';
import { Page, Row, Section } from '../components/layout.tsx';
import { EmptyState } from '../components/notice.tsx';
import { Badge, DateTime, None } from '../components/values.tsx';
import { formatNumber } from '../format.ts';
import { changeQuery, Link, type RouteQuery } from '../router.tsx';
import { describeEventType, isRead } from './event-types.ts';
import type { PageProps } from './page.ts';

const pageSize = 100;
const liveRefreshMs = 2_000;

/** Latest events, newest first, or the events with a tag. */
export function EventsPage({ query }: PageProps) {
  const events = useEvents(query);
  const includesReads = query.reads === 'true';
  const loadedRows = events.data?.rows;
  const rows = loadedRows?.filter(({ context }) => includesReads || !isRead(context.eventType));
  const hiddenCount = (loadedRows?.length ?? 0) - (rows?.length ?? 0);
  const isLive = query.live === 'true';
  return (
    <Page
      title="Events"
      subtitle="Every request, store notification and webhook, with its calls to stores."
      actions={
        <Button
          icon="refresh"
          isPressed={isLive}
          onClick={() => changeQuery({ live: isLive ? undefined : 'true', skip: undefined, until: undefined })}
        >
          {isLive ? 'Live' : 'Live tail'}
        </Button>
      }
    >
      <Section title={query.tag ? `Events with the tag ${query.tag}` : 'Latest events'}>
        <Filters key={JSON.stringify(query)} query={query} />
        <DataTable
          caption={query.tag ? `Events with the tag ${query.tag}` : 'Latest events'}
          columns={columns}
          rows={rows}
          getKey={({ eventId }) => eventId}
          isLoading={events.isLoading && !isLive}
          error={events.error}
          onRetry={events.reload}
          empty={<NoEvents query={query} hiddenCount={hiddenCount} />}
          fileName="events"
          {...(!query.tag &&
            !isLive && {
              paging: {
                skip: Number(query.skip ?? 0),
                limit: pageSize,
                pageCount: loadedRows?.length,
                onSkip: (skip: number) => changeQuery({ skip: skip || undefined }),
              },
            })}
        />
        {hiddenCount > 0 && (
          <p class="quiet">{formatNumber(hiddenCount)} reads are hidden. The console itself reads.</p>
        )}
      </Section>
    </Page>
  );
}

function useEvents(query: RouteQuery): Loaded<{ readonly rows: readonly EventSearchResult[] }> {
  const { tag = '' } = query;
  const options = query.live === 'true' ? { refreshMs: liveRefreshMs } : {};
  const found = useApi(endpoints.searchEvents, tag === '' ? undefined : { params: { tag } }, options);
  const listed = useApi(
    endpoints.listEvents,
    tag === ''
      ? { query: { limit: pageSize, skip: query.skip, startdate: query.from, enddate: query.until } }
      : undefined,
    options,
  );
  return tag === '' ? listed : found;
}

function Filters({ query }: { readonly query: RouteQuery }) {
  const [tag, setTag] = useState(query.tag ?? '');
  const [from, setFrom] = useState(query.from ?? '');
  const [until, setUntil] = useState(query.until ?? '');
  const apply = () => changeQuery({ tag: tag.trim(), from, until, skip: undefined });
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
        <TextField label="From" type="date" value={from} onInput={setFrom} isDisabled={tag !== ''} />
        <TextField label="Until" type="date" value={until} onInput={setUntil} isDisabled={tag !== ''} />
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

function NoEvents({ query, hiddenCount }: { readonly query: RouteQuery; readonly hiddenCount: number }) {
  if (hiddenCount > 0) return <EmptyState title="Only reads.">Select “Show reads” to see them.</EmptyState>;
  if (query.tag === 'error') return <EmptyState title="No request, notification or webhook has failed." />;
  if (query.tag)
    return (
      <EmptyState title={`No event has the tag ${query.tag}.`}>
        Search for the whole username, purchase id, transaction id or request id. Events are deleted after 90 days,
        unless the deployment has another retention.
      </EmptyState>
    );
  return <EmptyState title="No events in this period.">Validate a receipt, and its event appears here.</EmptyState>;
}

export const hasFailed = ({ content }: Pick<EventSearchResult, 'content'>): boolean => content.tags.error === '_X';

const columns: readonly Column<EventSearchResult>[] = [
  {
    title: 'Event',
    render: ({ eventId, context }) => (
      <Link to="/events/:id" params={{ id: eventId }}>
        {describeEventType(context.eventType)}
      </Link>
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
    render: ({ context }) => <DateTime value={context.eventDate} />,
    csv: ({ context }) => context.eventDate,
  },
  {
    title: 'Customer',
    render: ({ context: { applicationUsername: user } }) =>
      user === undefined ? (
        <None />
      ) : (
        <Link to="/customers/:user" params={{ user }}>
          {user}
        </Link>
      ),
    csv: ({ context }) => context.applicationUsername,
  },
  {
    title: 'Products',
    render: ({ content }) => listValues(content.products, 'id').join(', ') || <None />,
    csv: ({ content }) => listValues(content.products, 'id').join(' '),
  },
  { title: 'Key', render: ({ context }) => context.key?.name ?? <None />, csv: ({ context }) => context.key?.name },
  {
    title: 'Event id',
    render: ({ eventId }) => <span class="mono quiet">{eventId.slice(0, 8)}</span>,
    csv: ({ eventId }) => eventId,
  },
];

/** Lists the different values of a field of the rows. */
const listValues = (rows: readonly Readonly<Record<string, unknown>>[], name: string): string[] => [
  ...new Set(rows.map((row) => String(row[name] ?? '')).filter((value) => value !== '')),
];
