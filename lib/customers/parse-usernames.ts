import * as v from 'valibot';
import { Username } from '../api/identifiers.ts';
import { ServiceError } from '../shared/errors.ts';

/** More than an URL can carry of any length worth naming. */
const maxUsernames = 1_000;
/** Some clients encode each name, then the list, then the address, which is decoded already. */
const maxDecodings = 2;

/**
 * The names in a comma-separated list whose names are URI-encoded, once or more. A name that can be read in several ways is
 * taken for each of them, so that every one finds it; a list with commas is read as one name as well, as a single name with
 * commas looks so when it was encoded once. Among several names, one with commas is found only when it was encoded twice:
 * by itself, and with the address. Throws `InvalidPayload` for what is no user's name in any reading.
 */
export function parseUsernames(list: string): string[] {
  const names = list.split(',').filter((name) => name !== '');
  if (names.length > maxUsernames)
    throw new ServiceError('InvalidPayload', `At most ${maxUsernames} names can be asked for.`);
  return [...new Set([...names.flatMap(parseUsername), ...listValidReadings(list)])];
}

function parseUsername(text: string): string[] {
  const found = listValidReadings(text);
  if (found.length === 0)
    throw new ServiceError('InvalidPayload', 'applicationUsername holds a name that no user can have.');
  return found;
}

const listValidReadings = (text: string): string[] => listReadings(text).filter((reading) => v.is(Username, reading));

/** The text as it is, and what it is the encoded form of. */
function listReadings(text: string, decodings = maxDecodings): string[] {
  const inner = decodings > 0 ? tryDecode(text) : text;
  return inner === text ? [text] : [text, ...listReadings(inner, decodings - 1)];
}

/** A text that is not the encoded form of another stays as it is. */
function tryDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
