import { toIso } from '../foundation/time.ts';
import type { EventInfo } from './contract.ts';
import type { ListedEvent } from './event.ts';

/** Converts an event to the form that `get-customer` returns. */
export const toEventInfo = ({ eventId, date, type, outcome, productIds, purchaseIds }: ListedEvent): EventInfo => ({
  eventId,
  eventInfo: {
    date: toIso(date),
    type,
    ...(productIds.length > 0 && { productIds }),
    ...(purchaseIds.length > 0 && { purchaseIds }),
    response: { ...outcome, message: outcome.message ?? 'OK' },
  },
});
