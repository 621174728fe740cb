import { toTagValue } from '../foundation/redaction/redact-text.ts';
import { contentListNames, type EventContent, type EventRecord } from './event.ts';

/** Replaces a text that contains the username. */
const erasedMark = '[erased]';

/** Human-readable members of content rows, which can contain a username within other text. */
const textMembers: readonly string[] = ['message', 'reason', 'title', 'warning'];

/** Returns the event without the username. Type, date and purchases stay, so the event counts as before. */
export function eraseUserFromEvent({ applicationUsername, ...event }: EventRecord, username: string): EventRecord {
  const { eventId, reqId, outcome, content } = event;
  return {
    ...event,
    reqId: reqId === username ? eventId : reqId,
    outcome: { ...outcome, ...(outcome.message?.includes(username) && { message: erasedMark }) },
    content: { ...content, ...eraseFromLists(content, username), tags: omitTag(content.tags, username) },
    ...(applicationUsername !== undefined && applicationUsername !== username && { applicationUsername }),
  };
}

const omitTag = (tags: EventContent['tags'], username: string): EventContent['tags'] =>
  Object.fromEntries(Object.entries(tags).filter(([tag]) => tag !== toTagValue(username)));

const eraseFromLists = (content: EventContent, username: string): Partial<EventContent> =>
  Object.fromEntries(contentListNames.map((list) => [list, content[list].map((row) => eraseFromRow(row, username))]));

const eraseFromRow = (row: Readonly<Record<string, unknown>>, username: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => value !== username)
      .map(([member, value]) => [member, eraseFromMember(member, value, username)]),
  );

function eraseFromMember(member: string, value: unknown, username: string): unknown {
  if (Array.isArray(value)) return value.filter((element) => element !== username);
  return typeof value === 'string' && textMembers.includes(member) && value.includes(username) ? erasedMark : value;
}
