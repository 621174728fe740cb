import { useEffect, useState } from 'preact/hooks';
import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { listCustomers } from '../../../lib/customers/contract.ts';
import { callApi } from '../../api/client.ts';
import { endpoints } from '../../api/endpoints.ts';
import { useApi } from '../../api/use-api.ts';
import { type LoadPage, useCursorPage } from '../../api/use-cursor-page.ts';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Form, SearchField, SelectField, TextField } from '../../components/fields.tsx';
import { Page, Row, Section } from '../../components/layout.tsx';
import { CopyItem } from '../../components/menu.tsx';
import { Badge, DateTime, None } from '../../components/values.tsx';
import { formatNumber } from '../../format.ts';
import { changeQuery, Link } from '../../router.tsx';
import { toSandboxFilter } from '../../sandbox.ts';
import { buildCustomerColumn } from '../customer-column.tsx';
import { EmptyList } from '../empty-list.tsx';
import { orders, stores } from '../list-filters.ts';
import type { PageProps } from '../page.ts';
import { UnreadableNotice } from '../unreadable-notice.tsx';
import { SearchResults } from './search-results.tsx';
import { buildSpendColumn, useSpend } from './spend.tsx';

type CustomerRow = ContractResponse<typeof listCustomers>['rows'][number];

const limit = 50;

/** The customers that match the filters, newest first, or the results of a search. */
export function CustomersPage({ query }: PageProps) {
  const { q = '' } = query;
  return (
    <Page title="Customers">
      <Section title="Search">
        <SearchForm text={q} />
      </Section>
      {q === '' ? <CustomerList query={query} /> : <SearchResults text={q} />}
    </Page>
  );
}

function SearchForm({ text }: { readonly text: string }) {
  const [value, setValue] = useState(text);
  useEffect(() => setValue(text), [text]);
  return (
    <search>
      <Form label="Search" onSubmit={() => changeQuery({ q: value.trim(), cursor: '' })}>
        <div class="row search-row">
          <div class="field-grow">
            <TextField
              label="Customer or id"
              type="search"
              value={value}
              onInput={setValue}
              placeholder="Beginning of a name, alias, purchase id, order id or transaction id"
              isLabelHidden
            />
          </div>
          <Button type="submit" kind="primary" icon="search">
            Search
          </Button>
          {text !== '' && (
            <Button kind="quiet" icon="close" onClick={() => changeQuery({ q: '' })}>
              All customers
            </Button>
          )}
        </div>
      </Form>
    </search>
  );
}

const filterNames = ['state', 'platform', 'product', 'entitlement', 'order'] as const;

const states = [
  ['', 'All'],
  ['active', 'Active'],
  ['trial', 'Trial'],
  ['grace', 'Grace period'],
  ['lapsed', 'Lapsed'],
  ['none', 'Never subscribed'],
] as const;

/** Reads the filters from the query of the URL. It selects the sandbox or the others. */
const toFilters = ({ state, platform, product, entitlement, sandbox, order }: PageProps['query']) => ({
  state: states.find(([id]) => id === state)?.[0],
  platform: stores.find(([id]) => id === platform)?.[0],
  productId: product,
  entitlement,
  sandbox: toSandboxFilter({ sandbox }),
  order: order === 'oldest' ? ('oldest' as const) : ('newest' as const),
});

/** The customers that match the filters, newest first. */
function CustomerList({ query }: Pick<PageProps, 'query'>) {
  const { cursor } = query;
  const filters = toFilters(query);
  const loadPage: LoadPage<CustomerRow> = async (page, signal) => {
    const list = await callApi(endpoints.listCustomers, { query: { ...filters, ...page } }, { signal });
    return { ...list, unreadableIds: list.unreadableUsers };
  };
  const { data, error, isStale, reload } = useCursorPage({ list: JSON.stringify(filters), cursor, limit, loadPage });
  const total = useApi(endpoints.listCustomers, { query: { limit: 1 } });
  const spend = useSpend(data?.rows);
  const isFiltered = filterNames.some((name) => name !== 'order' && (query[name] ?? '') !== '');
  return (
    <Section
      title={isFiltered ? 'Selected customers' : 'All customers'}
      description={
        <>
          By the time of the first purchase. The last purchase decides store, product and sandbox.
          {total.data && ` ${formatNumber(total.data.paging.total)} customers in all, sandbox included.`}
        </>
      }
    >
      <Filters query={query} isFiltered={isFiltered} />
      <UnreadableNotice ids={data?.unreadableIds} />
      <DataTable
        caption="Customers"
        columns={[...columns.slice(0, 2), buildSpendColumn(spend), ...columns.slice(2)]}
        rows={data?.rows}
        getKey={({ applicationUsername }) => applicationUsername}
        renderMenu={({ applicationUsername: user }) => (
          <>
            <Link to="/transactions" query={{ user }}>
              Show the transactions
            </Link>
            <Link to="/events" query={{ tag: user }}>
              Show the events
            </Link>
            <Link to="/webhooks" query={{ user }}>
              Show the webhooks
            </Link>
            <CopyItem value={user} name="name" />
          </>
        )}
        isStale={isStale}
        error={error}
        onRetry={reload}
        empty={
          <EmptyList
            noun="customer"
            path="/customers"
            isFiltered={isFiltered}
            hasRows={(total.data?.paging.total ?? 0) > 0}
          >
            A customer appears when the app validates a receipt for them.
          </EmptyList>
        }
        pages={{ cursor, nextCursor: data?.nextCursor, loadPage }}
        fileName="customers"
        placeholderRows={12}
      />
    </Section>
  );
}

function Filters({ query, isFiltered }: Pick<PageProps, 'query'> & { readonly isFiltered: boolean }) {
  const change = (patch: Readonly<Record<string, string>>) => changeQuery({ cursor: '', ...patch });
  const { state = '', platform = '', product = '', entitlement = '', order = '' } = query;
  return (
    <search>
      <Row>
        <SelectField label="Subscription" value={state} options={states} onChange={(id) => change({ state: id })} />
        <SelectField label="Store" value={platform} options={stores} onChange={(id) => change({ platform: id })} />
        <SearchField label="Product" value={product} onSearch={(text) => change({ product: text.trim() })} />
        <SearchField
          label="Entitlement"
          value={entitlement}
          onSearch={(text) => change({ entitlement: text.trim() })}
        />
        <SelectField label="Order" value={order} options={orders} onChange={(id) => change({ order: id })} />
        {isFiltered && (
          <Button
            kind="quiet"
            icon="close"
            onClick={() => changeQuery({ cursor: '', ...Object.fromEntries(filterNames.map((name) => [name, ''])) })}
          >
            Remove the filters
          </Button>
        )}
      </Row>
    </search>
  );
}

const columns: readonly Column<CustomerRow>[] = [
  buildCustomerColumn(({ applicationUsername }) => applicationUsername),
  { title: 'Subscription', render: (row) => <Subscription row={row} />, csv: (row) => describeSubscriber(row) },
  {
    title: 'Last purchase',
    render: ({ customerInfo: { lastPurchaseDate, lastPurchaseId } }) =>
      lastPurchaseId === undefined ? (
        <None />
      ) : (
        <Link to="/purchases/:id" params={{ id: lastPurchaseId }}>
          <DateTime value={lastPurchaseDate} kind="relative" />
        </Link>
      ),
    csv: ({ customerInfo }) => customerInfo.lastPurchaseDate,
  },
  {
    title: 'Last purchase until',
    render: ({ customerInfo }) => <DateTime value={customerInfo.expirationDate} kind="day" />,
    csv: ({ customerInfo }) => customerInfo.expirationDate,
  },
  {
    title: 'Renewal',
    render: ({ customerInfo: { activeSubscriber, renewalIntent } }) =>
      !activeSubscriber || renewalIntent === undefined ? (
        <None />
      ) : renewalIntent === 'Renew' ? (
        'Renews'
      ) : (
        'Does not renew'
      ),
    csv: ({ customerInfo }) => customerInfo.renewalIntent,
  },
  {
    title: 'First seen',
    render: ({ createdAt }) => <DateTime value={createdAt} kind="day" />,
    csv: ({ createdAt }) => createdAt,
  },
  { title: 'Last purchase id', csv: ({ customerInfo }) => customerInfo.lastPurchaseId },
];

const describeSubscriber = ({ customerInfo }: CustomerRow): string | undefined => {
  if (customerInfo.activeSubscriber) return customerInfo.isTrialPeriod ? 'Trial' : 'Active';
  return customerInfo.lapsedSubscriber ? 'Lapsed' : undefined;
};

const Subscription = ({ row }: { readonly row: CustomerRow }) => {
  const text = describeSubscriber(row);
  if (text === undefined) return <None />;
  return <Badge tone={text === 'Lapsed' ? 'neutral' : 'good'}>{text}</Badge>;
};
