import * as v from 'valibot';
import { Username } from '../api/username.ts';
import { ServiceError } from '../errors.ts';

/** More than an URL can carry of any length worth naming. */
const mostNames = 1_000;
/** Some clients encode each name, then the list, then the address, which is decoded already. */
const mostDecodings = 2;

/**
 * The names in a comma-separated list whose names are URI-encoded, once or more. A name that can be read in several ways is
 * taken for each of them, so that every one finds it; a list with commas is read as one name as well, as a single name with
 * commas looks so when it was encoded once. Among several names, one with commas is found only when it was encoded twice:
 * by itself, and with the address. Throws `InvalidPayload` for what is no user's name in any reading.
 */
export function namesIn(list: string): string[] {
  const names = list.split(',').filter((name) => name !== '');
  if (names.length > mostNames)
    throw new ServiceError('InvalidPayload', `At most ${mostNames} names can be asked for.`);
  return [...new Set([...names.flatMap(usernames), ...validReadings(list)])];
}

function usernames(text: string): string[] {
  const found = validReadings(text);
  if (found.length === 0)
    throw new ServiceError('InvalidPayload', 'applicationUsername holds a name that no user can have.');
  return found;
}

const validReadings = (text: string): string[] => readings(text).filter((reading) => v.is(Username, reading));

/** The text as it is, and what it is the encoded form of. */
function readings(text: string, decodings = mostDecodings): string[] {
  const inner = decodings > 0 ? decoded(text) : text;
  return inner === text ? [text] : [text, ...readings(inner, decodings - 1)];
}

/** A text that is not the encoded form of another stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
