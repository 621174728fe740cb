import { describeReason } from '../../../lib/api/webhook-texts.ts';
import type { DeliveryAttemptRecord } from '../../../lib/webhooks/contract.ts';
import { callApi } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { usePolling } from '../../api/use-polling.ts';
import { webhookEndpoints } from '../../api/webhook-endpoints.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { ConfirmButton } from '../../components/dialog.tsx';
import { FieldList } from '../../components/field-list.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Page, Section } from '../../components/layout.tsx';
import { EmptyState, ErrorNotice, Skeleton } from '../../components/notice.tsx';
import { Badge, CopyId, DateTime, None } from '../../components/values.tsx';
import { formatDuration, formatNumber, formatProductId } from '../../format.ts';
import { Link } from '../../router.tsx';
import { useCanSupport } from '../../session.ts';
import { CustomerLink } from '../customer-column.tsx';
import type { PageProps } from '../page.ts';
import { describeDeliveryState } from './delivery-state.ts';

/** One webhook delivery: its state, and each attempt with the response of the app's server and the duration. */
export function DeliveryPage({ params }: PageProps<'id'>) {
  const canSupport = useCanSupport();
  const { data, error, reload } = useApi(webhookEndpoints.getDelivery, { params });
  usePolling(reload, { revision: JSON.stringify(data), minMs: 3_000, maxMs: 60_000 });
  return (
    <Page
      title={data ? `Webhook ${describeReason(data)}` : 'Webhook'}
      context={<Link to="/webhooks">Webhooks</Link>}
      actions={
        canSupport &&
        data &&
        data.state !== 'redirected' && (
          <ConfirmButton
            label="Replay"
            icon="refresh"
            question="Send this webhook again?"
            consequence={`1 delivery is sent again to ${data.url}, with the original number of attempts.`}
            done="The delivery is enqueued."
            onConfirm={async () => {
              await callApi(webhookEndpoints.replayDelivery, { params });
              reload();
            }}
          />
        )
      }
    >
      <ErrorNotice error={error} onRetry={reload} />
      {!data && error === undefined && <Skeleton lines={8} />}
      {data && (
        <>
          <Section title="Delivery">
            <FieldList
              fields={[
                [
                  'State',
                  <Badge {...describeDeliveryState(data.state)}>{describeDeliveryState(data.state).label}</Badge>,
                ],
                ['URL', <span class="mono">{data.url}</span>],
                [
                  'Customer',
                  data.applicationUsername !== undefined && <CustomerLink user={data.applicationUsername} />,
                ],
                [
                  'Purchase',
                  data.notification.purchaseId !== undefined && (
                    <CopyId value={data.notification.purchaseId} label="purchase id">
                      <Link to="/purchases/:purchaseId" params={{ purchaseId: data.notification.purchaseId }}>
                        {data.notification.purchaseId}
                      </Link>
                    </CopyId>
                  ),
                ],
                ['Product', data.notification.productId && formatProductId(data.notification.productId)],
                ['Change on', <DateTime value={data.notification.date} kind="both" />],
                ['Created or replayed', <DateTime value={data.createdAt} kind="both" />],
                ['Failed attempts', formatNumber(data.failedAttempts)],
                ['Next attempt', data.nextAttemptAt && <DateTime value={data.nextAttemptAt} kind="both" />],
                ['Failure', data.failureReason],
                ['webhook-id', <CopyId value={data.deliveryId} label="webhook id" />],
              ]}
            />
          </Section>
          <Section
            title="Attempts"
            description="Newest first. Events are kept for a limited time, and attempts with them."
          >
            <DataTable
              isOfRecords
              caption="Attempts"
              columns={attemptColumns}
              rows={data.attempts}
              getKey={({ eventId }) => eventId}
              empty={<EmptyState title="No attempt is recorded.">The first one starts within seconds.</EmptyState>}
              fileName={`attempts-${data.deliveryId}`}
            />
          </Section>
          {data.attempts[0]?.request && (
            <Section title="Sent" description="The headers and the body of the latest attempt, without secrets.">
              <JsonView value={data.attempts[0].request} label="sent webhook" />
            </Section>
          )}
        </>
      )}
    </Page>
  );
}

const attemptColumns: readonly Column<DeliveryAttemptRecord>[] = [
  {
    title: 'Date',
    render: ({ date, eventId }) => (
      <Link to="/events/:id" params={{ id: eventId }}>
        <DateTime value={date} />
      </Link>
    ),
    csv: ({ date }) => date,
  },
  {
    title: 'Response',
    render: ({ ok, status }) => (
      <Badge tone={ok ? 'good' : 'bad'}>{status === undefined ? 'No response' : `HTTP ${status}`}</Badge>
    ),
    csv: ({ status }) => status,
  },
  {
    title: 'Duration',
    align: 'end',
    render: ({ durationMs }) => <span class="number">{formatDuration(durationMs)}</span>,
    csv: ({ durationMs }) => durationMs,
  },
  {
    title: 'Failure',
    render: ({ error }) => (error ? <div class="wrap">{error}</div> : <None />),
    csv: ({ error }) => error,
  },
  {
    title: 'Body of the response',
    render: ({ response }) => (response ? <div class="wrap mono">{response}</div> : <None />),
    csv: ({ response }) => response,
  },
];
