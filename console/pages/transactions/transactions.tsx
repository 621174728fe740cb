import type { TransactionRecord } from '../../../lib/api/purchase-records.ts';
import { callApi } from '../../api/client.ts';
import { useNewestFirst } from '../../api/use-newest-first.ts';
import { Button } from '../../components/button.tsx';
import { DayField } from '../../components/fields.tsx';
import { Page, Row, Section } from '../../components/layout.tsx';
import { EmptyState } from '../../components/notice.tsx';
import { changeQuery, Link } from '../../router.tsx';
import type { PageProps } from '../page.ts';
import { parseSkip } from '../parse-skip.ts';
import { purchaseEndpoints } from '../purchase/purchase-endpoints.ts';
import { toRangeEnd } from '../to-range-end.ts';
import { TransactionTable } from './transaction-table.tsx';

const limit = 50;

const selectDays = (days: { readonly from?: string; readonly to?: string }) =>
  changeQuery({ ...days, skip: '' }, { isReplacing: true });

/** All transactions, newest first, also of a range of days. */
export function TransactionsPage({ query }: PageProps) {
  const { from = '', to = '' } = query;
  const skip = parseSkip(query.skip, limit);
  const { data, error, isStale, reload } = useNewestFirst<TransactionRecord>({
    list: `transactions ${from} ${to}`,
    getPage: (page, signal) =>
      callApi(
        purchaseEndpoints.listTransactions,
        { query: { startdate: from, enddate: to && toRangeEnd(to), ...page } },
        { signal },
      ),
    skip,
    limit,
  });
  const hasRange = from !== '' || to !== '';
  return (
    <Page title="Transactions">
      <Section
        title={hasRange ? 'Transactions of the selected days' : 'All transactions'}
        description="By purchase date, newest first. Days are in UTC; times are in your time zone."
        actions={
          <Row>
            <DayField label="From" value={from} onSelect={(day) => selectDays({ from: day })} />
            <DayField label="To" value={to} onSelect={(day) => selectDays({ to: day })} />
            <Button
              kind="quiet"
              icon="close"
              isDisabled={!hasRange}
              onClick={() => changeQuery({ from: '', to: '', skip: '' })}
            >
              All days
            </Button>
          </Row>
        }
      >
        <TransactionTable
          caption="Transactions"
          rows={data?.rows}
          isStale={isStale}
          error={error}
          onRetry={reload}
          empty={
            <EmptyState title={hasRange ? 'These days have no transactions.' : 'There are no transactions yet.'}>
              {hasRange ? (
                'Select other days, or show all days.'
              ) : (
                <>
                  Validate a receipt from your app. <Link to="/reference">See the API reference</Link>
                </>
              )}
            </EmptyState>
          }
          paging={{ skip, limit, total: data?.total, onSkip: (next) => changeQuery({ skip: next || undefined }) }}
          fileName={['transactions', from, to].filter(Boolean).join('-')}
          placeholderRows={12}
        />
      </Section>
    </Page>
  );
}
