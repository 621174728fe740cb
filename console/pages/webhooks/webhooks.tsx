import { describeReason } from '../../../lib/api/webhook-texts.ts';
import type { DeliveryRecord } from '../../../lib/webhooks/contract.ts';
import { callApi } from '../../api/client.ts';
import { loadPages } from '../../api/cursor-pages.ts';
import { endpoints } from '../../api/endpoints.ts';
import { useApi, useLoad } from '../../api/use-api.ts';
import { usePolling } from '../../api/use-polling.ts';
import { webhookEndpoints } from '../../api/webhook-endpoints.ts';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { ConfirmButton } from '../../components/dialog.tsx';
import { DayField, SearchField, SelectField } from '../../components/fields.tsx';
import { Page, Row, Section } from '../../components/layout.tsx';
import { CopyItem } from '../../components/menu.tsx';
import { EmptyState, Notice } from '../../components/notice.tsx';
import { Badge, CopyId, DateTime } from '../../components/values.tsx';
import { formatProductId } from '../../format.ts';
import { changeQuery, Link, type RouteQuery } from '../../router.tsx';
import { useCanChange, useCanSupport } from '../../session.ts';
import { CustomerLink } from '../customer-column.tsx';
import type { PageProps } from '../page.ts';
import { toRangeEnd } from '../to-range-end.ts';
import { type DeliveryFilters, states, toFilters } from './delivery-filters.ts';
import { describeDeliveryState } from './delivery-state.ts';
import { ReplayButton } from './replay-button.tsx';
import { SignatureHelp } from './signature-help.tsx';
import { UrlStatsSection, useUrlStats } from './url-stats.tsx';

const pageSize = 50;

/** Webhook deliveries, newest first, with their replay, the test webhook and the verification of signatures. */
export function WebhooksPage({ query }: PageProps) {
  const canChange = useCanChange();
  const canSupport = useCanSupport();
  const app = useApi(endpoints.getApp, {});
  const filters = toFilters(query);
  const stats = useUrlStats(filters);
  const { data, error, isStale, reload } = useDeliveries(filters, query.cursor);
  usePolling(reload, { revision: JSON.stringify([filters, data?.rows]), minMs: 3_000, maxMs: 60_000 });
  const urls = app.data?.webhooks && [...app.data.webhooks.urls, ...app.data.webhooks.sandboxUrls];
  return (
    <Page
      title="Webhooks"
      subtitle={urls && urls.length > 0 ? `Sent to ${urls.join(', ')}` : app.isLoading ? '\u00a0' : undefined}
      actions={
        canChange &&
        urls !== undefined &&
        urls.length > 0 && (
          <ConfirmButton
            label="Send a test"
            question="Send a test webhook?"
            consequence={`The service sends a webhook of the type "test" to ${urls.join(', ')}.`}
            done="The test webhook is enqueued. It is sent once, without retries."
            onConfirm={async () => {
              await callApi(webhookEndpoints.testWebhook, {});
              reload();
            }}
          />
        )
      }
    >
      {app.data && (urls === undefined || urls.length === 0) && (
        <Notice tone="warn" icon="alert">
          The app has no webhook URL, so the service sends nothing. Set it in the <Link to="/settings">settings</Link>.
        </Notice>
      )}
      <UrlStatsSection {...stats} />
      {/* The table above has as many rows as there are URLs. */}
      {(stats.data || stats.error !== undefined) && (
        <>
          <Section
            title="Deliveries"
            actions={
              canSupport && filters.applicationUsername === '' && <ReplayButton filters={filters} onDone={reload} />
            }
          >
            <Filters filters={filters} urls={[...new Set(urls)]} />
            <DataTable
              caption="Webhook deliveries"
              columns={columns}
              rows={data?.rows}
              getKey={({ deliveryId }) => deliveryId}
              renderMenu={({ deliveryId, applicationUsername: user, notification: { purchaseId } }) => (
                <>
                  <Link to="/webhooks/:id" params={{ id: deliveryId }}>
                    Open the webhook
                  </Link>
                  {user !== undefined && (
                    <Link to="/webhooks" query={{ user }}>
                      Show the webhooks of the customer
                    </Link>
                  )}
                  {purchaseId !== undefined && (
                    <Link to="/purchases/:id" params={{ id: purchaseId }}>
                      Open the purchase
                    </Link>
                  )}
                  <CopyItem value={deliveryId} name="delivery id" />
                </>
              )}
              isStale={isStale}
              error={error}
              onRetry={reload}
              empty={<EmptyDeliveries query={query} hasOlder={data?.nextCursor !== undefined} />}
              fileName="webhook-deliveries"
            />
            <Row>
              {query.cursor && (
                <Button kind="quiet" onClick={() => changeQuery({ cursor: undefined })}>
                  Newest
                </Button>
              )}
              {data?.nextCursor && (
                <Button kind="quiet" onClick={() => changeQuery({ cursor: data.nextCursor })} isBusy={isStale}>
                  Older
                </Button>
              )}
            </Row>
          </Section>
          <SignatureHelp language={query.language} />
        </>
      )}
    </Page>
  );
}

/** Loads a page of the deliveries. A page of few matching deliveries can be empty, with matching ones behind it. */
function useDeliveries(filters: DeliveryFilters, cursor: string | undefined) {
  const query = { ...filters, enddate: toRangeEnd(filters.enddate), limit: pageSize };
  const load = async (signal: AbortSignal) =>
    await loadPages(
      async (next) => await callApi(webhookEndpoints.listDeliveries, { query: { ...query, cursor: next } }, { signal }),
      { cursor, isEnough: (rows) => rows.length > 0 },
    );
  return useLoad(load, JSON.stringify([query, cursor]));
}

const Filters = ({ filters, urls }: { readonly filters: DeliveryFilters; readonly urls: readonly string[] }) => {
  const change = (patch: Readonly<Record<string, string>>) =>
    changeQuery({ ...patch, cursor: undefined }, { isReplacing: true });
  return (
    <search>
      <Row>
        <SelectField label="State" value={filters.state} options={states} onChange={(state) => change({ state })} />
        {(urls.length > 1 || filters.url !== '') && (
          <SelectField
            label="URL"
            value={filters.url}
            options={[['', 'All'], ...urls.map((url) => [url, url] as const)]}
            onChange={(url) => change({ url })}
          />
        )}
        <SearchField label="Customer" value={filters.applicationUsername} onSearch={(user) => change({ user })} />
        <DayField label="From" value={filters.startdate} onSelect={(from) => change({ from })} />
        <DayField label="To" value={filters.enddate} onSelect={(to) => change({ to })} />
      </Row>
    </search>
  );
};

interface EmptyDeliveriesProps {
  readonly query: RouteQuery;
  readonly hasOlder: boolean;
}

const EmptyDeliveries = ({ query: { cursor, language: _, ...filters }, hasOlder }: EmptyDeliveriesProps) => {
  const isFiltered = Object.values(filters).some((value) => value !== '') || cursor !== undefined;
  if (hasOlder)
    return (
      <EmptyState title="None of the latest deliveries matches the filters.">
        Show older deliveries to search further.
      </EmptyState>
    );
  return isFiltered ? (
    <EmptyState title="No delivery matches the filters.">
      <Link to="/webhooks">Remove the filters</Link>
    </EmptyState>
  ) : (
    <EmptyState title="The service has not sent a webhook.">
      The first purchase sends one. Send a test to check the endpoint of your server.
    </EmptyState>
  );
};

const columns: readonly Column<DeliveryRecord>[] = [
  {
    title: 'Reason',
    render: (delivery) => (
      <Link to="/webhooks/:id" params={{ id: delivery.deliveryId }}>
        {describeReason(delivery)}
      </Link>
    ),
    csv: describeReason,
  },
  {
    title: 'State',
    render: ({ state }) => {
      const { label, tone } = describeDeliveryState(state);
      return <Badge tone={tone}>{label}</Badge>;
    },
    csv: ({ state }) => state,
  },
  {
    title: 'Created',
    render: ({ createdAt }) => <DateTime value={createdAt} kind="minute" />,
    csv: ({ createdAt }) => createdAt,
  },
  {
    title: 'Customer',
    render: ({ applicationUsername: user }) => user && <CustomerLink user={user} />,
    csv: ({ applicationUsername }) => applicationUsername,
  },
  {
    title: 'Product',
    render: ({ notification: { productId, purchaseId: id } }) =>
      productId &&
      (id === undefined ? (
        formatProductId(productId)
      ) : (
        <Link to="/purchases/:id" params={{ id }}>
          {formatProductId(productId)}
        </Link>
      )),
    csv: ({ notification }) => notification.productId,
  },
  {
    title: 'Last response',
    render: ({ lastHttpStatus, failureReason }) =>
      lastHttpStatus === undefined ? <div class="wrap">{failureReason}</div> : `HTTP ${lastHttpStatus}`,
    csv: ({ lastHttpStatus }) => lastHttpStatus,
  },
  { title: 'Failure', csv: ({ failureReason }) => failureReason },
  {
    title: 'Failed attempts',
    align: 'end',
    isHidden: true,
    render: ({ failedAttempts }) => failedAttempts,
    csv: ({ failedAttempts }) => failedAttempts,
  },
  {
    title: 'Next attempt',
    isHidden: true,
    render: ({ nextAttemptAt }) => <DateTime value={nextAttemptAt} kind="relative" />,
    csv: ({ nextAttemptAt }) => nextAttemptAt,
  },
  {
    title: 'Delivery id',
    isHidden: true,
    render: ({ deliveryId }) => <CopyId value={deliveryId} label="delivery id" />,
    csv: ({ deliveryId }) => deliveryId,
  },
];
