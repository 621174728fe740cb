import { useEffect, useState } from 'preact/hooks';
import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { listCustomers } from '../../../lib/api/customers.ts';
import { callApi } from '../../api/client.ts';
import { endpoints } from '../../api/endpoints.ts';
import { useNewestFirst } from '../../api/use-newest-first.ts';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Form, TextField } from '../../components/fields.tsx';
import { Page, Section } from '../../components/layout.tsx';
import { EmptyState } from '../../components/notice.tsx';
import { Badge, DateTime, None } from '../../components/values.tsx';
import { changeQuery, Link } from '../../router.tsx';
import type { PageProps } from '../page.ts';
import { parseSkip } from '../parse-skip.ts';
import { SearchResults } from './search-results.tsx';

type CustomerRow = ContractResponse<typeof listCustomers>['rows'][number];

const limit = 50;

/** All customers, newest first, or the results of a search. */
export function CustomersPage({ query }: PageProps) {
  const { q = '' } = query;
  return (
    <Page title="Customers">
      <Section title="Search">
        <SearchForm text={q} />
      </Section>
      {q === '' ? <AllCustomers skip={parseSkip(query.skip, limit)} /> : <SearchResults text={q} />}
    </Page>
  );
}

function SearchForm({ text }: { readonly text: string }) {
  const [value, setValue] = useState(text);
  useEffect(() => setValue(text), [text]);
  return (
    <search>
      <Form label="Search" onSubmit={() => changeQuery({ q: value.trim(), skip: '' })}>
        <div class="row search-row">
          <div class="field-grow">
            <TextField
              label="Customer or id"
              type="search"
              value={value}
              onInput={setValue}
              placeholder="Name, alias, purchase id, order id or transaction id"
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

function AllCustomers({ skip }: { readonly skip: number }) {
  const { data, error, isStale, reload } = useNewestFirst<CustomerRow>({
    list: 'customers',
    getPage: (page, signal) => callApi(endpoints.listCustomers, { query: page }, { signal }),
    skip,
    limit,
  });
  return (
    <Section title="All customers" description="Newest first.">
      <DataTable
        caption="Customers"
        columns={columns}
        rows={data?.rows}
        getKey={({ applicationUsername }) => applicationUsername}
        isStale={isStale}
        error={error}
        onRetry={reload}
        empty={
          <EmptyState title="There are no customers yet.">
            A customer appears when the app validates a receipt for them.{' '}
            <Link to="/reference">See the API reference</Link>
          </EmptyState>
        }
        paging={{ skip, limit, total: data?.total, onSkip: (next) => changeQuery({ skip: next || undefined }) }}
        fileName="customers"
        placeholderRows={12}
      />
    </Section>
  );
}

const columns: readonly Column<CustomerRow>[] = [
  {
    title: 'Customer',
    render: ({ applicationUsername }) => (
      <Link to="/customers/:user" params={{ user: applicationUsername }}>
        {applicationUsername}
      </Link>
    ),
    csv: ({ applicationUsername }) => applicationUsername,
  },
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
    title: 'Access until',
    render: ({ customerInfo }) => <DateTime value={customerInfo.expirationDate} kind="date" />,
    csv: ({ customerInfo }) => customerInfo.expirationDate,
  },
  {
    title: 'Renewal',
    render: ({ customerInfo: { renewalIntent } }) =>
      renewalIntent === undefined ? <None /> : renewalIntent === 'Renew' ? 'Renews' : 'Does not renew',
    csv: ({ customerInfo }) => customerInfo.renewalIntent,
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
