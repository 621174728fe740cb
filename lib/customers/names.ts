import { ServiceError } from '../errors.ts';

/** More than an URL can carry of any length worth naming. */
const mostNames = 1_000;

/**
 * The names in a comma-separated list whose names are URI-encoded. Some clients encode each once more; a name that is still
 * encoded then is taken for both, so that either finds it. Throws `InvalidPayload` for broken percent encoding.
 */
export function namesIn(list: string): string[] {
  const names = list.split(',').filter((name) => name !== '');
  if (names.length > mostNames)
    throw new ServiceError('InvalidPayload', `At most ${mostNames} names can be asked for.`);
  return [...new Set(names.flatMap(readings))];
}

function readings(name: string): string[] {
  const once = decoded(name);
  if (once === undefined)
    throw new ServiceError('InvalidPayload', 'applicationUsername holds broken percent encoding.');
  const twice = decoded(once);
  return twice === undefined || twice === once ? [once] : [once, twice];
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
