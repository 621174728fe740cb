import type { EventInfo } from '../api/purchase-records.ts';
import type { EventRecord } from './event.ts';

/** Converts an event to the form that `get-customer` returns. */
export function toEventInfo({ eventId, date, type, content, outcome }: EventRecord): EventInfo {
  const productIds = listIds(content.purchases, 'productId');
  const purchaseIds = listIds(content.purchases, 'purchaseId');
  return {
    eventId,
    eventInfo: {
      date: new Date(date).toISOString(),
      type,
      ...(productIds.length > 0 && { productIds }),
      ...(purchaseIds.length > 0 && { purchaseIds }),
      response: { ...outcome, message: outcome.message ?? 'OK' },
    },
  };
}

const listIds = (rows: readonly Record<string, unknown>[], field: string): string[] => [
  ...new Set(rows.map((row) => row[field]).filter((id) => typeof id === 'string')),
];
