import { useMemo } from 'preact/hooks';
import { callApi } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { usePolling } from '../../api/use-polling.ts';
import { readEmulatorClock } from '../../clock.ts';
import { Page, Section } from '../../components/layout.tsx';
import { EmptyState, ErrorNotice } from '../../components/notice.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { CopyId } from '../../components/values.tsx';
import { changeQuery, Link } from '../../router.tsx';
import { useCanChange } from '../../session.ts';
import type { PageProps } from '../page.ts';
import { History } from '../purchase/history.tsx';
import { MissingRecord } from '../purchase/missing-record.tsx';
import { purchaseEndpoints } from '../purchase/purchase-endpoints.ts';
import { TransactionTable } from '../transactions/transaction-table.tsx';
import { CustomerPurchases } from './customer-purchases.tsx';
import { LinkPurchaseButton } from './link-purchase-button.tsx';

const maxPurchases = 100;
/** Rows of one page of the timeline. */
const pageSize = 100;

/** A customer: what they own now and why, their payments and the timeline of everything. */
export function CustomerPage({ params: { user }, query }: PageProps<'user'>) {
  const canChange = useCanChange();
  const purchases = useApi(purchaseEndpoints.listPurchases, {
    query: { customerId: user, include_notifications: 'true', limit: maxPurchases },
  });
  const timeline = useApi(purchaseEndpoints.getCustomerTimeline, {
    params: { applicationUsername: user },
    query: { limit: pageSize },
  });
  const error = purchases.error ?? timeline.error;
  const reload = () => {
    purchases.reload();
    timeline.reload();
  };
  usePolling(
    () => {
      readEmulatorClock().catch(() => {});
      if (!purchases.isLoading && !timeline.isLoading) reload();
    },
    { version: JSON.stringify([purchases.data?.rows, timeline.data?.rows]), minMs: 4_000, maxMs: 60_000 },
  );
  const transactions = useMemo(
    () => timeline.data?.rows.flatMap((row) => (row.type === 'payment' ? [row.transaction] : [])),
    [timeline.data],
  );
  const isUnknown = purchases.data?.rows.length === 0 && timeline.data?.rows.length === 0;
  return (
    <Page
      title={user}
      context={<Link to="/customers">Customers</Link>}
      subtitle={
        <CopyId value={user} label="name of the customer">
          Copy the name
        </CopyId>
      }
      actions={canChange && <LinkPurchaseButton user={user} onDone={reload} />}
    >
      {error !== undefined && purchases.data ? <ErrorNotice error={error} onRetry={reload} /> : null}
      {error !== undefined && !purchases.data ? (
        <MissingRecord error={error} onRetry={reload} title="This is not the name of a customer." query={user}>
          Check the name.
        </MissingRecord>
      ) : isUnknown ? (
        <EmptyState title="The app has no customer with this name.">
          A customer appears when the app validates a receipt for them. Names are case-sensitive.{' '}
          <Link to="/customers" query={{ q: user }}>
            Search for it
          </Link>
        </EmptyState>
      ) : (
        <>
          <CustomerPurchases
            user={user}
            purchases={purchases.data?.rows}
            total={purchases.data?.paging.total ?? 0}
            timeline={timeline.data?.rows}
          />
          <Section title="History">
            <Tabs
              label="History"
              selected={query.tab}
              onSelect={(tab) => changeQuery({ tab })}
              tabs={[
                {
                  id: 'timeline',
                  label: 'Timeline',
                  render: () => (
                    <History
                      label="Timeline of the customer"
                      newest={timeline.data}
                      loadOlder={(cursor) =>
                        callApi(purchaseEndpoints.getCustomerTimeline, {
                          params: { applicationUsername: user },
                          query: { limit: pageSize, cursor },
                        })
                      }
                      {...(purchases.data && { lifecycles: purchases.data.rows })}
                      kind={query.kind}
                      linksPurchases
                    />
                  ),
                },
                {
                  id: 'payments',
                  label: 'Payments',
                  render: () => (
                    <TransactionTable
                      caption="Payments of the customer"
                      rows={transactions}
                      empty={<EmptyState title="The customer has not paid yet." />}
                      fileName="payments"
                    />
                  ),
                },
              ]}
            />
          </Section>
        </>
      )}
    </Page>
  );
}
