import * as v from 'valibot';
import { ServiceError } from '../../errors.ts';
import type { StoreAnswer } from '../store.ts';
import { accessToken, forgetToken } from './entra.ts';
import { misconfigured, unavailable, understood } from './microsoft-answer.ts';
import type { Session } from './session.ts';
import type { Service } from './store-id-key.ts';

/** What a call came to: an answer, or a StoreID key that the store no longer takes. */
export type Answered<T> = { readonly kind: 'found'; readonly value: T } | { readonly kind: 'key refused' };

interface ServiceCall {
  readonly service: Service;
  readonly path: string;
  readonly body: object;
}

/**
 * Posts to a service of the store. Throws `ConnectionFailed` for whatever is no answer, `InternalError` for credentials
 * that it refuses, `InvalidPayload` for a request that it cannot read, of which only the client's words can be the cause.
 */
export async function askService<S extends v.GenericSchema>(
  session: Session,
  { service, path, body }: ServiceCall,
  schema: S,
): Promise<Answered<v.InferOutput<S>>> {
  const token = await accessToken(session, 'services');
  const answer = await session.fetch(`https://${service}.mp.microsoft.com${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  });
  if (answer.status === 200) return { kind: 'found', value: understood(schema, answer.text) };
  if (answer.status === 401 || answer.status === 403) forgetToken(session, 'services');
  return judged(answer);
}

const Problem = v.object({
  code: v.nullish(v.string()),
  innererror: v.nullish(v.object({ code: v.nullish(v.string()) })),
});

/** What to look at when the store refuses the application itself. */
const advice: ReadonlyMap<string, string> = new Map([
  ['PartnerAadTicketRequired', 'associate the Entra application with the app in Partner Center.'],
  ['InconsistentClientId', 'clientId is not the one that the StoreID key was made for.'],
]);

function judged({ status, text }: StoreAnswer): Answered<never> {
  if (status === 429 || status >= 500 || status < 400) throw unavailable(`HTTP ${status}`);
  const { code, innererror } = understood(Problem, text);
  const reason = innererror?.code ?? code ?? 'no code';
  if (status === 400 || status === 404) {
    const cause = `HTTP ${status}, ${reason}`;
    throw new ServiceError('InvalidPayload', 'Microsoft cannot read this request.', { cause });
  }
  // The access token has not expired, so that this means the key: an old one, or one of an older signing certificate.
  if (reason === 'AuthenticationTokenInvalid') return { kind: 'key refused' };
  if (status === 401 || status === 403) {
    throw misconfigured(advice.get(reason) ?? 'see Partner Center.', `HTTP ${status}, ${reason}`);
  }
  throw unavailable(`HTTP ${status}, ${reason}`);
}
