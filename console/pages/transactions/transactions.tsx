import type { TransactionRecord } from '../../../lib/purchases/transaction-contract.ts';
import { callApi } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { type LoadPage, useCursorPage } from '../../api/use-cursor-page.ts';
import { Button } from '../../components/button.tsx';
import { DayField, SearchField, SelectField } from '../../components/fields.tsx';
import { Page, Row, Section } from '../../components/layout.tsx';
import { formatNumber } from '../../format.ts';
import { changeQuery } from '../../router.tsx';
import { toSandboxFilter } from '../../sandbox.ts';
import { EmptyList } from '../empty-list.tsx';
import { orders, stores } from '../list-filters.ts';
import type { PageProps } from '../page.ts';
import { purchaseEndpoints } from '../purchase/purchase-endpoints.ts';
import { toRangeEnd } from '../to-range-end.ts';
import { UnreadableNotice } from '../unreadable-notice.tsx';
import { TransactionTable } from './transaction-table.tsx';

const limit = 50;

const filterNames = ['from', 'to', 'user', 'platform', 'product', 'refunded', 'order'] as const;
const noFilters = { cursor: '', ...Object.fromEntries(filterNames.map((name) => [name, ''])) };

const refunds = [
  ['', 'All'],
  ['true', 'Refunded'],
  ['false', 'Not refunded'],
] as const;

/** Reads the filters from the query of the URL. It selects the sandbox or the others. */
const toFilters = ({ from = '', to = '', user, platform, product, refunded, sandbox, order }: PageProps['query']) => ({
  startdate: from,
  enddate: to && toRangeEnd(to),
  applicationUsername: user,
  platform: stores.find(([id]) => id === platform)?.[0],
  productId: product,
  refunded: refunds.find(([id]) => id === refunded)?.[0],
  sandbox: toSandboxFilter({ sandbox }),
  order: order === 'oldest' ? ('oldest' as const) : ('newest' as const),
});

/** The transactions that match the filters, newest first, with the customers who own them. */
export function TransactionsPage({ query }: PageProps) {
  const { cursor } = query;
  const filters = toFilters(query);
  const loadPage: LoadPage<TransactionRecord> = async (page, signal) =>
    await callApi(
      purchaseEndpoints.listTransactions,
      { query: { ...filters, ...page, include_customers: 'true' } },
      { signal },
    );
  const { data, error, isStale, reload } = useCursorPage({ list: JSON.stringify(filters), cursor, limit, loadPage });
  const { startdate, enddate } = filters;
  const total = useApi(purchaseEndpoints.listTransactions, { query: { startdate, enddate, limit: 1 } });
  const isFiltered = filterNames.some((name) => name !== 'order' && (query[name] ?? '') !== '');
  return (
    <Page title="Transactions">
      <Section
        title={isFiltered ? 'Selected transactions' : 'All transactions'}
        description={
          <>
            By purchase date. Days are in UTC; times are in your time zone.
            {total.data && ` ${describeTotal(total.data.paging.total, startdate !== '' || enddate !== '')}`}
          </>
        }
      >
        <Filters query={query} isFiltered={isFiltered} />
        <UnreadableNotice ids={data?.unreadableIds} />
        <TransactionTable
          caption="Transactions"
          rows={data?.rows}
          isStale={isStale}
          error={error}
          onRetry={reload}
          empty={
            <EmptyList
              noun="transaction"
              path="/transactions"
              isFiltered={isFiltered}
              hasRows={(total.data?.paging.total ?? 0) > 0}
            >
              Validate a receipt from your app.
            </EmptyList>
          }
          pages={{ cursor, nextCursor: data?.nextCursor, loadPage }}
          fileName={['transactions', query.from, query.to].filter(Boolean).join('-')}
          showsCustomers
          placeholderRows={12}
        />
      </Section>
    </Page>
  );
}

const describeTotal = (total: number, hasDays: boolean): string =>
  `${formatNumber(total)} ${hasDays ? 'in these days' : 'in all'}, sandbox included.`;

function Filters({ query, isFiltered }: Pick<PageProps, 'query'> & { readonly isFiltered: boolean }) {
  const change = (patch: Readonly<Record<string, string>>) => changeQuery({ cursor: '', ...patch });
  const { from = '', to = '', user = '', platform = '', product = '', refunded = '', order = '' } = query;
  return (
    <search>
      <Row>
        <DayField label="From" value={from} onSelect={(day) => change({ from: day })} />
        <DayField label="To" value={to} onSelect={(day) => change({ to: day })} />
        <SearchField label="Customer" value={user} onSearch={(text) => change({ user: text.trim() })} />
        <SelectField label="Store" value={platform} options={stores} onChange={(id) => change({ platform: id })} />
        <SearchField label="Product" value={product} onSearch={(text) => change({ product: text.trim() })} />
        <SelectField label="Refunds" value={refunded} options={refunds} onChange={(id) => change({ refunded: id })} />
        <SelectField label="Order" value={order} options={orders} onChange={(id) => change({ order: id })} />
        {isFiltered && (
          <Button kind="quiet" icon="close" onClick={() => changeQuery(noFilters)}>
            Remove the filters
          </Button>
        )}
      </Row>
    </search>
  );
}
