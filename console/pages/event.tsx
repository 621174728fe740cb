import type { ComponentChildren } from 'preact';
import type { ContractResponse } from '../../lib/api/contract.ts';
import type { EventRawResult, getEvent, RequestContent } from '../../lib/events/contract.ts';
import type { TransactionRecord } from '../../lib/purchases/transaction-contract.ts';
import { endpoints } from '../api/endpoints.ts';
import { useApi } from '../api/use-api.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { FieldList } from '../components/field-list.tsx';
import { JsonView } from '../components/json-view.tsx';
import { Columns, Page, Section } from '../components/layout.tsx';
import { EmptyState, ErrorNotice, Notice, Skeleton } from '../components/notice.tsx';
import { Tabs } from '../components/tabs.tsx';
import { TimingBar } from '../components/timing-bar.tsx';
import { Badge, CopyId, DateTime, None, Platform, shorten } from '../components/values.tsx';
import { formatDuration, formatNumber, formatProductId } from '../format.ts';
import { changeQuery, Link } from '../router.tsx';
import { CustomerLink } from './customer-column.tsx';
import { describeEventType } from './event-types.ts';
import type { PageProps } from './page.ts';
import { claimSources, isClaimSource } from './purchase/describe-ownership.ts';
import { TransactionTable } from './transactions/transaction-table.tsx';

/** One event: its request and result, content, calls to stores, analysis and raw view. */
export function EventPage({ params: { id }, query }: PageProps<'id'>) {
  const { data, error, reload } = useApi(endpoints.getEvent, { params: { id }, query: { receipts: 'true' } });
  const context = <Link to="/events">Events</Link>;
  if (!data)
    return (
      <Page title="Event" context={context}>
        {error === undefined ? <Skeleton lines={10} /> : <ErrorNotice error={error} onRetry={reload} />}
      </Page>
    );
  const { analysis, raw } = data;
  const calls = raw.externalRequests ?? [];
  return (
    <Page
      title={describeEventType(raw.type, raw.error !== undefined)}
      context={context}
      subtitle={<DateTime value={raw.date} kind="both" />}
      actions={<Result raw={raw} />}
    >
      {raw.error && (
        <Notice tone="bad" icon="alert">
          <strong>{raw.error.message}</strong> {raw.error.code}, status {raw.error.status}
        </Notice>
      )}
      <Tabs
        label="Parts of the event"
        selected={query.tab}
        onSelect={(tab) => changeQuery({ tab }, { isReplacing: true })}
        tabs={[
          {
            id: 'summary',
            label: 'Summary',
            render: () => (
              <div class="stack">
                <Columns>
                  <Section title="Context">
                    <EventContext data={data} />
                  </Section>
                  <Section title="Tags" description="Values that find this event in a search.">
                    <Tags tags={analysis.content.tags} />
                  </Section>
                </Columns>
                <Content content={analysis.content} />
              </div>
            ),
          },
          {
            id: 'calls',
            label: `Calls (${calls.length})`,
            render: () => (
              <Section
                title="Calls to stores and servers"
                description="Query strings and long path segments are removed: they can contain tokens."
              >
                <Calls calls={calls} />
              </Section>
            ),
          },
          { id: 'analysis', label: 'Analysis', render: () => <JsonView value={analysis} label="analysis" /> },
          { id: 'raw', label: 'Raw', render: () => <JsonView value={raw} label="raw event" /> },
        ]}
      />
    </Page>
  );
}

const Result = ({ raw }: { readonly raw: EventRawResult }) =>
  raw.error ? <Badge tone="bad">Failed</Badge> : <Badge tone="good">OK</Badge>;

function EventContext({ data: { analysis, raw } }: { readonly data: ContractResponse<typeof getEvent> }) {
  const { context } = analysis;
  const { method, route } = (raw.request ?? {}) as { readonly method?: string; readonly route?: string };
  const { status } = (raw.response ?? {}) as { readonly status?: number };
  const { applicationUsername: user, key } = context;
  return (
    <FieldList
      fields={[
        ['Type', <span class="mono">{raw.type}</span>],
        ['Event id', <CopyId value={raw.eventId} label="event id" />],
        ['Request id', context.req_id && <CopyId value={context.req_id} label="request id" />],
        ['Customer', user !== undefined && <CustomerLink user={user} />],
        ['Key', key && `${key.name} (${key.level})`],
        ['Route', route && <span class="mono">{`${method ?? ''} ${route}`}</span>],
        ['Status', status],
      ]}
    />
  );
}

const Tags = ({ tags }: Pick<RequestContent, 'tags'>) => (
  <p class="row">
    {Object.keys(tags).map((tag) => (
      <Link key={tag} to="/events" query={{ tag }} class="badge">
        {shorten(tag)}
      </Link>
    ))}
  </p>
);

const lists = [
  ['purchases', 'Purchases'],
  ['transactions', 'Transactions'],
  ['products', 'Products'],
  ['claims', 'Claims'],
  ['notifications', 'Notifications'],
  ['refreshFailures', 'Failed refreshes'],
  ['exchangeRates', 'Exchange rates'],
] as const;

function Content({ content }: { readonly content: RequestContent }) {
  const present = lists.filter(([name]) => content[name].length > 0);
  if (present.length === 0)
    return (
      <Section title="Content">
        <EmptyState title="This event has no content.">It changed no purchase and no claim.</EmptyState>
      </Section>
    );
  return present.map(([name, title]) => (
    <Section key={name} title={title}>
      <ContentTable title={title} rows={content[name]} />
      {content.trimmed?.[name] !== undefined && (
        <p class="quiet">
          {formatNumber(content.trimmed[name])} more rows are omitted: an event has at most 100 of a list.
        </p>
      )}
    </Section>
  ));
}

type ContentRow = Readonly<Record<string, unknown>>;

/** A table of all members of the rows. Transactions have the table of their list. */
function ContentTable({ title, rows }: { readonly title: string; readonly rows: readonly ContentRow[] }) {
  const fileName = title.toLowerCase().replace(/ /g, '-');
  const empty = <EmptyState title="No rows." />;
  if (rows.every(isTransaction))
    return <TransactionTable caption={title} rows={rows} empty={empty} fileName={fileName} />;
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns: readonly Column<ContentRow>[] = names.map((name) => ({
    title: members[name]?.title ?? toWords(name),
    render: (row) => <ContentValue name={name} value={row[name]} />,
    csv: (row) => toText(row[name]),
  }));
  return (
    <DataTable
      isOfRecords
      caption={title}
      columns={columns}
      rows={rows}
      getKey={(row) => JSON.stringify(row)}
      empty={empty}
      fileName={fileName}
    />
  );
}

const isTransaction = (row: ContentRow): row is ContentRow & TransactionRecord =>
  ['transactionId', 'purchaseId', 'productId', 'platform', 'purchaseDate'].every(
    (name) => typeof row[name] === 'string',
  );

interface Member {
  readonly title: string;
  readonly render?: (value: string) => ComponentChildren;
}

const linkTo =
  (path: '/purchases/:id' | '/customers/:id'): NonNullable<Member['render']> =>
  (id) => (
    <Link to={path} params={{ id }}>
      {shorten(id)}
    </Link>
  );

/** Names of members, and how their texts are shown. */
const members: Readonly<Record<string, Member>> = {
  purchaseId: { title: 'Purchase', render: linkTo('/purchases/:id') },
  applicationUsername: { title: 'Customer', render: linkTo('/customers/:id') },
  productId: { title: 'Product', render: formatProductId },
  transactionId: { title: 'Transaction' },
  platform: { title: 'Store', render: (platform) => <Platform value={platform} /> },
  type: { title: 'Type', render: (type) => (isClaimSource(type) ? claimSources[type] : type) },
};

/** Returns the words of a name such as `lastRenewalDate`. */
const toWords = (name: string): string => {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
};

function ContentValue({ name, value }: { readonly name: string; readonly value: unknown }) {
  const text = toText(value);
  const shown = typeof value === 'string' && members[name]?.render?.(value);
  return shown ? (
    shown
  ) : isDateTime(value) ? (
    <DateTime value={value} />
  ) : text === '' ? (
    <None />
  ) : (
    <span title={text}>{shorten(text)}</span>
  );
}

const isDateTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);

const toText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);

type StoreCall = NonNullable<EventRawResult['externalRequests']>[number];

function Calls({ calls }: { readonly calls: readonly StoreCall[] }) {
  const start = Math.min(...calls.map(({ timing }) => timing.startedAt));
  const totalMs = Math.max(...calls.map(({ timing }) => timing.endedAt)) - start;
  const columns: readonly Column<StoreCall>[] = [
    { title: 'Host', render: ({ type }) => type, csv: ({ type }) => type },
    {
      title: 'Request',
      render: ({ method, url }) => (
        <span class="mono" title={url}>
          {method} {shorten(getPath(url))}
        </span>
      ),
      csv: ({ method, url }) => `${method} ${url}`,
    },
    {
      title: 'Result',
      render: (call) => <CallResult call={call} />,
      csv: (call) => getStatus(call) ?? getMessage(call),
    },
    {
      title: 'Duration',
      align: 'end',
      render: ({ timing }) => <span class="number">{formatDuration(timing.endedAt - timing.startedAt)}</span>,
      csv: ({ timing }) => timing.endedAt - timing.startedAt,
    },
    {
      title: 'Timing',
      render: ({ timing }) => (
        <TimingBar
          startMs={timing.startedAt - start}
          durationMs={timing.endedAt - timing.startedAt}
          totalMs={totalMs}
        />
      ),
    },
  ];
  return (
    <DataTable
      isOfRecords
      caption="Calls to stores and servers"
      columns={columns}
      rows={calls}
      getKey={({ url, timing }) => `${timing.startedAt} ${url}`}
      empty={<EmptyState title="This event called no store and no server." />}
      fileName="calls"
    />
  );
}

function CallResult({ call }: { readonly call: StoreCall }) {
  const status = getStatus(call);
  if (status === undefined) return <Badge tone="bad">{getMessage(call)}</Badge>;
  return <Badge tone={status < 400 ? 'good' : 'bad'}>{status}</Badge>;
}

const getStatus = ({ response }: StoreCall): number | undefined =>
  typeof response?.status === 'number' ? response.status : undefined;

const getMessage = ({ error }: StoreCall): string => toText(error?.message) || 'No response';

const getPath = (url: string): string => url.replace(/^https?:\/\/[^/]+/, '');
