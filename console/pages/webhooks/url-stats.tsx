import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { getWebhookStats } from '../../../lib/webhooks/contract.ts';
import { useApi } from '../../api/use-api.ts';
import { webhookEndpoints } from '../../api/webhook-endpoints.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Section } from '../../components/layout.tsx';
import { EmptyState } from '../../components/notice.tsx';
import { DateTime } from '../../components/values.tsx';
import { formatDateTime, formatDuration, formatNumber } from '../../format.ts';
import { Link } from '../../router.tsx';
import { toRangeEnd } from '../to-range-end.ts';
import type { DeliveryFilters } from './delivery-filters.ts';

type UrlStats = ContractResponse<typeof getWebhookStats>['rows'][number];

/** Loads the statistics of the selected days. */
export const useUrlStats = ({ startdate, enddate }: DeliveryFilters) =>
  useApi(
    webhookEndpoints.getWebhookStats,
    { query: { startdate, enddate: toRangeEnd(enddate) } },
    { refreshMs: 60_000 },
  );

/** Deliveries, failures and delivery times of each webhook URL in the selected days, or in the last seven. */
export function UrlStatsSection({ data, error, isStale, reload }: ReturnType<typeof useUrlStats>) {
  const scope = data?.isComplete === false ? 'The newest 1,000 deliveries' : 'Deliveries';
  return (
    <Section
      title="URLs"
      description={
        data ? `${scope} since ${formatDateTime(new Date(data.countedFrom))}, until they were accepted.` : '\u00a0'
      }
    >
      <DataTable
        isOfRecords
        caption="Webhook URLs"
        columns={columns}
        rows={data?.rows}
        getKey={({ url }) => url}
        isStale={isStale}
        error={error}
        onRetry={reload}
        empty={<EmptyState title="No webhook URL has deliveries." />}
        fileName="webhook-urls"
        placeholderRows={1}
      />
    </Section>
  );
}

const showMs = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : formatDuration(ms));

const columns: readonly Column<UrlStats>[] = [
  {
    title: 'URL',
    render: ({ url }) => (
      <Link to="/webhooks" query={{ url }}>
        {url}
      </Link>
    ),
    csv: ({ url }) => url,
  },
  {
    title: 'Deliveries',
    align: 'end',
    render: ({ numDeliveries }) => formatNumber(numDeliveries),
    csv: ({ numDeliveries }) => numDeliveries,
  },
  {
    title: 'Not delivered',
    align: 'end',
    render: ({ numFailed }) => formatNumber(numFailed),
    csv: ({ numFailed }) => numFailed,
  },
  {
    title: 'Last failure',
    render: ({ lastFailure }) =>
      lastFailure && (
        <div class="wrap">
          <Link to="/webhooks/:id" params={{ id: lastFailure.deliveryId }}>
            {lastFailure.message}
          </Link>{' '}
          <DateTime value={lastFailure.date} kind="relative" />
        </div>
      ),
    csv: ({ lastFailure }) => lastFailure?.message,
  },
  {
    title: 'Failed attempts',
    align: 'end',
    render: ({ failedAttempts }) => formatNumber(failedAttempts),
    csv: ({ failedAttempts }) => failedAttempts,
  },
  { title: 'Median time', align: 'end', render: ({ medianMs }) => showMs(medianMs), csv: ({ medianMs }) => medianMs },
  {
    title: '95 % within',
    align: 'end',
    render: ({ percentile95Ms }) => showMs(percentile95Ms),
    csv: ({ percentile95Ms }) => percentile95Ms,
  },
];
