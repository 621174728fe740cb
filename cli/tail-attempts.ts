import * as v from 'valibot';
import { describeReason } from '../lib/api/webhook-texts.ts';
import { getApp } from '../lib/apps/manage-apps.ts';
import type { EventRecord } from '../lib/events/event.ts';
import { createEventTail } from '../lib/events/tail-events.ts';
import { parseAttemptEventId } from '../lib/foundation/event-id.ts';
import { toIso } from '../lib/foundation/time.ts';
import { createSearchNote } from './event-commands.ts';
import { printRepeatedly } from './follow.ts';
import { formatTime } from './format.ts';
import { getService } from './get-service.ts';
import type { Output } from './output.ts';

const maxPrintedAtStart = 20;

/**
 * Prints the latest webhook attempts, oldest first. With `follow`, prints further attempts until the operator ends it.
 */
export async function tailAttempts(
  name: string,
  { follow = false }: { readonly follow?: boolean },
  output: Output,
): Promise<undefined> {
  const { name: appName } = await getApp(getService(), name);
  const matches = ({ type }: EventRecord): boolean => type === 'webhook.app.called';
  const onSearchLimit = createSearchNote(output);
  const tail = createEventTail(getService(), appName, { limit: maxPrintedAtStart, follow, matches, onSearchLimit });
  const print = async () => {
    for (const attempt of await tail.poll()) output.line(toAttemptData(attempt), formatAttempt(attempt));
  };
  await printRepeatedly(print, { follow, output });
  return undefined;
}

const Notification = v.object({ type: v.exactOptional(v.string()), reason: v.exactOptional(v.string(), '') });

/** Events of earlier releases have no type, and of forwards no notification. */
const getNotification = ({ content }: EventRecord) => v.parse(Notification, content.notifications[0] ?? {});

const toAttemptData = (event: EventRecord): object => ({
  eventId: event.eventId,
  deliveryId: parseAttemptEventId(event.eventId),
  date: toIso(event.date),
  ...getNotification(event),
  applicationUsername: event.applicationUsername,
  ok: event.outcome.ok,
  error: event.outcome.message,
});

function formatAttempt(event: EventRecord): string {
  const { type, reason } = getNotification(event);
  return [
    formatTime(event.date),
    event.outcome.ok ? 'delivered' : 'failed',
    describeReason({ type, notification: { reason } }),
    event.applicationUsername ?? '',
    parseAttemptEventId(event.eventId) ?? '',
    event.outcome.message ?? '',
  ]
    .join('  ')
    .trimEnd();
}
