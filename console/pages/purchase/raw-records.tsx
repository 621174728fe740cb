import type { PurchaseDetails, TransactionRecord } from '../../../lib/api/purchase-records.ts';
import { endpoints } from '../../api/endpoints.ts';
import { useApi } from '../../api/use-api.ts';
import { JsonView } from '../../components/json-view.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { DateTime } from '../../components/values.tsx';

interface RawRecordsProps {
  readonly purchase: PurchaseDetails;
  readonly transactions: readonly TransactionRecord[] | undefined;
}

/** The records of a purchase as the API returns them, and its latest events. */
export function RawRecords({ purchase, transactions = [] }: RawRecordsProps) {
  const { data, error, reload } = useApi(endpoints.searchEvents, { params: { tag: purchase.purchaseId } });
  const events = data?.rows.filter(({ context }) => !context.eventType.endsWith('.read')) ?? [];
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
      {events.map((event) => (
        <details key={event.eventId}>
          <summary>
            {event.context.eventType} <DateTime value={event.context.eventDate} />
          </summary>
          <JsonView value={event} label="event" />
        </details>
      ))}
    </div>
  );
}
