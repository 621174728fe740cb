import type { EventRepository } from '../events/event-repository.ts';
import { type EpochMillis, hourMs } from '../shared/time.ts';

/** Events that are read: a customer has few in an hour. */
const maxEvents = 100;

/** Whether the customer has validated a receipt in the last hour, by the log of events. */
export async function hasRecentValidation(
  appName: string,
  username: string,
  { events, now }: { readonly events: EventRepository; readonly now: EpochMillis },
): Promise<boolean> {
  const query = { startdate: now - hourMs, limit: maxEvents, includesReads: false };
  const { rows } = await events.listPageByTags(appName, [username], query);
  return rows.some(
    ({ type, outcome, applicationUsername }) =>
      type === 'receipt.validated' && outcome.ok && applicationUsername === username,
  );
}
