import { parseAttemptEventId } from '../foundation/event-id.ts';
import { toIso } from '../foundation/time.ts';
import type { TimelineRecord } from '../purchases/timeline-contract.ts';
import { toTransactionRecord } from '../purchases/to-records.ts';
import { type EventRecord, toEventExcerpt } from './event.ts';
import type { TimelineRow } from './timeline-row.ts';

/** Returns the record of an entry of a timeline. */
export function toTimelineRecord(row: TimelineRow): TimelineRecord {
  switch (row.type) {
    case 'event':
      return toEventRecord(row.event);
    case 'payment':
      return {
        type: row.type,
        date: toIso(row.transaction.purchaseDate),
        transaction: toTransactionRecord(row.transaction),
      };
    case 'notification':
      return { type: row.type, date: toIso(row.date), reason: row.reason };
    case 'claim': {
      const { username, source, lastClaimedAt } = row.claim;
      return { type: row.type, date: toIso(lastClaimedAt), applicationUsername: username, source };
    }
    case 'credit': {
      const { entryId: id, at, type: change, ...entry } = row.entry;
      return { type: row.type, date: toIso(at), id, change, ...entry };
    }
  }
}

function toEventRecord(event: EventRecord): TimelineRecord {
  const { eventId, type: eventType, outcome, applicationUsername, content } = event;
  const { productIds, purchaseIds } = toEventExcerpt(event);
  const reasons = [
    ...new Set(content.notifications.map(({ reason }) => reason).filter((text) => typeof text === 'string')),
  ];
  const notificationType = content.notifications.map(({ type }) => type).find((type) => typeof type === 'string');
  const deliveryId = parseAttemptEventId(eventId);
  return {
    type: 'event',
    date: toIso(event.date),
    eventId,
    eventType,
    ok: outcome.ok,
    ...(outcome.message !== undefined && { message: outcome.message }),
    ...(applicationUsername !== undefined && { applicationUsername }),
    ...(reasons.length > 0 && { reasons }),
    ...(notificationType !== undefined && { notificationType }),
    ...(productIds && { productIds }),
    ...(purchaseIds && { purchaseIds }),
    ...(deliveryId !== undefined && { deliveryId }),
  };
}
