import type { PurchaseDetails } from '../../../lib/purchases/purchase-contract.ts';
import type { TransactionRecord } from '../../../lib/purchases/transaction-contract.ts';
import { callApi } from '../../api/client.ts';
import { endpoints } from '../../api/endpoints.ts';
import { useApi } from '../../api/use-api.ts';
import { useAutomaticPages, useCursorPages } from '../../api/use-cursor-pages.ts';
import { Button } from '../../components/button.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { DateTime } from '../../components/values.tsx';

interface RawRecordsProps {
  readonly purchase: PurchaseDetails;
  readonly transactions: readonly TransactionRecord[] | undefined;
}

/** The records of a purchase as the API returns them, and its latest events. */
export function RawRecords({ purchase, transactions = [] }: RawRecordsProps) {
  const request = { params: { tag: purchase.purchaseId }, query: { reads: 'false' } };
  const { data, error, reload } = useApi(endpoints.searchEvents, request);
  const pages = useCursorPages({
    newest: data,
    loadPage: async (cursor) =>
      await callApi(endpoints.searchEvents, { ...request, query: { ...request.query, cursor } }),
    getId: ({ eventId }) => eventId,
  });
  const { rows: events = [], hasOlder, loadOlder, isLoadingOlder } = pages;
  useAutomaticPages(pages, events.length === 0);
  return (
    <div class="raw-records">
      <details open>
        <summary>Purchase</summary>
        <JsonView value={purchase} label="purchase" />
      </details>
      <details>
        <summary>Transactions ({transactions.length})</summary>
        <JsonView value={transactions} label="transactions" />
      </details>
      <ErrorNotice error={error} onRetry={reload} />
      <ErrorNotice error={pages.error} />
      {events.map((event) => (
        <details key={event.eventId}>
          <summary>
            {event.context.eventType} <DateTime value={event.context.eventDate} />
          </summary>
          <JsonView value={event} label="event" />
        </details>
      ))}
      {hasOlder && (
        <Button onClick={loadOlder} isBusy={isLoadingOlder}>
          Show older events
        </Button>
      )}
    </div>
  );
}
