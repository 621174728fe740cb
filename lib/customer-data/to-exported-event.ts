import { type EventContent, listUsernames } from '../events/event.ts';
import { toTagValue } from '../foundation/redaction/redact-text.ts';
import { toIso } from '../foundation/time.ts';
import type { StoredEvent } from './customer-data-table.ts';

/**
 * Converts an event for the export of a customer. Leaves out the usernames of other customers, and the API key of the
 * request.
 */
export function toExportedEvent({ event, raw }: StoredEvent, username: string): object {
  const { date, key: _key, content, applicationUsername, ...rest } = event;
  return {
    ...rest,
    date: toIso(date),
    ...(applicationUsername === username && { applicationUsername }),
    content: omitOtherUsers(content, username),
    // A request of a different customer can name this customer.
    ...(raw && listUsernames(raw).every((name) => name === username) && { raw }),
  };
}

function omitOtherUsers(content: EventContent, username: string): object {
  const isOwnClaim = ({ applicationUsername }: Readonly<Record<string, unknown>>): boolean =>
    applicationUsername === undefined || applicationUsername === username;
  const tags = Object.entries(content.tags).filter(([tag, type]) => type !== '_A' || tag === toTagValue(username));
  return { ...content, claims: content.claims.filter(isOwnClaim), tags: Object.fromEntries(tags) };
}
