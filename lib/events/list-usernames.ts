import { removedMark } from '../foundation/redaction/redact-text.ts';

/** Fields of requests, responses and content rows that contain usernames. */
const usernameFields: readonly string[] = ['applicationUsername', 'entitledUsers', 'from'];

/** Lists the usernames in the sanitized parts of an event, each once. */
export function listUsernames(part: unknown): string[] {
  if (Array.isArray(part)) return [...new Set(part.flatMap(listUsernames))];
  if (typeof part !== 'object' || part === null) return [];
  const members = Object.entries(part);
  const named = members.flatMap(([field, value]) => (usernameFields.includes(field) ? [value].flat() : []));
  const usernames = named.filter((name) => typeof name === 'string' && name !== '' && !name.includes(removedMark));
  return [...new Set([...(usernames as string[]), ...members.flatMap(([, value]) => listUsernames(value))])];
}
