import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { createRejection } from '../settings.ts';
import type { StoreResponse } from '../store-context.ts';
import { invalidSettingsError, parseResponse, unavailableError } from './api-errors.ts';
import { evictAccessToken, getAccessToken } from './entra.ts';
import type { MicrosoftSession } from './session.ts';
import type { StoreService } from './store-id-key.ts';

/** A parsed response, or the rejection of the StoreID key. */
export type ApiResult<T> = { readonly kind: 'found'; readonly value: T } | { readonly kind: 'keyRejected' };

interface ServiceCall {
  readonly service: StoreService;
  readonly path: string;
  readonly body: object;
}

/**
 * Posts to a service of the store. Throws `ConnectionFailed` if it or its path is unavailable, `InternalError` if it
 * rejects the app's credentials and `InvalidPayload` if it rejects the request, which only the client's ids can cause.
 */
export async function callService<S extends v.GenericSchema>(
  session: MicrosoftSession,
  { service, path, body }: ServiceCall,
  schema: S,
): Promise<ApiResult<v.InferOutput<S>>> {
  const token = await getAccessToken(session, 'services');
  const response = await session.fetch(`https://${service}.mp.microsoft.com${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status === 200) return { kind: 'found', value: parseResponse(schema, response.text) };
  if (response.status === 401 || response.status === 403) evictAccessToken(session, 'services');
  return toApiFailure(response);
}

const ServiceErrorBody = v.object({
  code: v.nullish(v.string()),
  innererror: v.nullish(v.object({ code: v.nullish(v.string()) })),
});

/** Public reasons for rejected credentials, by error code. */
const settingsProblems: ReadonlyMap<string, string> = new Map([
  ['PartnerAadTicketRequired', 'associate the Entra application with the app in Partner Center'],
  ['InconsistentClientId', 'clientId differs from the StoreID key'],
]);
const unknownSettingsProblem = 'check the Entra application in Partner Center';

function toApiFailure({ status, text }: StoreResponse): ApiResult<never> {
  if (status === 404 || status === 429 || status >= 500 || status < 400) throw unavailableError(`HTTP ${status}`);
  const { code, innererror } = parseResponse(ServiceErrorBody, text);
  const reason = innererror?.code ?? code ?? 'no code';
  const cause = `HTTP ${status}, ${reason}`;
  if (status === 400) {
    throw new ServiceError('InvalidPayload', 'The Microsoft Store rejected the product or the StoreID key.', { cause });
  }
  // The access token is valid, so the code refers to the StoreID key: it expired or its signing certificate did.
  if (reason === 'AuthenticationTokenInvalid') return { kind: 'keyRejected' };
  if (status === 401 || status === 403) {
    throw invalidSettingsError(
      settingsProblems.get(reason) ?? unknownSettingsProblem,
      createRejection('permission', cause),
    );
  }
  throw unavailableError(cause);
}

interface Page<T> {
  readonly items: readonly T[];
  readonly continuationToken?: string | null | undefined;
}

/** A page has up to 100 items. More pages are not the purchases of one customer in one app. */
const maxPages = 100;

/**
 * Fetches the items of all pages. Throws `ConnectionFailed` if they do not end: a part does not prove what is missing.
 */
export async function fetchAllPages<T>(
  fetchPage: (continuationToken?: string) => Promise<ApiResult<Page<T>>>,
): Promise<ApiResult<T[]>> {
  const items: T[] = [];
  let continuationToken: string | undefined;
  for (let pageCount = 0; pageCount < maxPages; pageCount++) {
    const result = await fetchPage(continuationToken);
    if (result.kind !== 'found') return result;
    items.push(...result.value.items);
    continuationToken = result.value.continuationToken || undefined;
    if (continuationToken === undefined) return { kind: 'found', value: items };
  }
  throw unavailableError(`more than ${maxPages} pages`);
}
