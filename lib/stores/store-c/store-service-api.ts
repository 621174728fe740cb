import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import type { StoreResponse } from '../store-context.ts';
import { invalidSettingsError, parseResponse, unavailableError } from './api-errors.ts';
import { evictAccessToken, getAccessToken } from './entra.ts';
import type { MicrosoftSession } from './session.ts';
import type { StoreService } from './store-id-key.ts';

/** What a call came to: an answer, or a StoreID key that the store no longer takes. */
export type ApiResult<T> = { readonly kind: 'found'; readonly value: T } | { readonly kind: 'key refused' };

interface ServiceCall {
  readonly service: StoreService;
  readonly path: string;
  readonly body: object;
}

/**
 * Posts to a service of the store. Throws `ConnectionFailed` for whatever is no answer, `InternalError` for credentials
 * that it refuses, `InvalidPayload` for a request that it cannot read, of which only the client's words can be the cause.
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

/** What to look at when the store refuses the application itself. */
const settingsAdvice: ReadonlyMap<string, string> = new Map([
  ['PartnerAadTicketRequired', 'associate the Entra application with the app in Partner Center.'],
  ['InconsistentClientId', 'clientId is not the one that the StoreID key was made for.'],
]);

function toApiFailure({ status, text }: StoreResponse): ApiResult<never> {
  if (status === 429 || status >= 500 || status < 400) throw unavailableError(`HTTP ${status}`);
  const { code, innererror } = parseResponse(ServiceErrorBody, text);
  const reason = innererror?.code ?? code ?? 'no code';
  if (status === 400 || status === 404) {
    const cause = `HTTP ${status}, ${reason}`;
    throw new ServiceError('InvalidPayload', 'Microsoft cannot read this request.', { cause });
  }
  // The access token has not expired, so that this means the key: an old one, or one of an older signing certificate.
  if (reason === 'AuthenticationTokenInvalid') return { kind: 'key refused' };
  if (status === 401 || status === 403) {
    throw invalidSettingsError(settingsAdvice.get(reason) ?? 'see Partner Center.', `HTTP ${status}, ${reason}`);
  }
  throw unavailableError(`HTTP ${status}, ${reason}`);
}
