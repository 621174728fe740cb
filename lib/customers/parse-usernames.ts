import * as v from 'valibot';
import { Username } from '../api/schemas.ts';
import { ServiceError } from '../foundation/errors.ts';

/** Maximum number of usernames. More than a URL of usual length contains. */
const maxUsernames = 1_000;

/** Some clients encode each username, then the list, then the URL, which is already decoded. */
const maxDecodings = 2;

/**
 * Parses a comma-separated list of usernames that are URI-encoded once or more. Returns every valid reading of a
 * username, and the whole list as one username with commas. In a list, a username with commas is found only if it is
 * encoded twice. Throws `InvalidPayload` if a username cannot be read.
 */
export function parseUsernames(list: string): string[] {
  const usernames = list.split(',').filter((username) => username !== '');
  if (usernames.length > maxUsernames) {
    throw new ServiceError('InvalidPayload', `applicationUsername must contain at most ${maxUsernames} usernames.`);
  }
  return [...new Set([...usernames.flatMap(parseUsername), ...listValidReadings(list)])];
}

function parseUsername(text: string): string[] {
  const readings = listValidReadings(text);
  if (readings.length === 0) {
    throw new ServiceError('InvalidPayload', 'applicationUsername contains an invalid username.');
  }
  return readings;
}

const listValidReadings = (text: string): string[] => listReadings(text).filter((reading) => v.is(Username, reading));

/** Lists the text and its decoded forms. */
function listReadings(text: string, decodings = maxDecodings): string[] {
  const decoded = decodings > 0 ? tryDecode(text) : text;
  return decoded === text ? [text] : [text, ...listReadings(decoded, decodings - 1)];
}

/** Decodes the text. Returns it unchanged if it is not URI-encoded. */
function tryDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
