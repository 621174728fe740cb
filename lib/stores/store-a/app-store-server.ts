import * as v from 'valibot';
import type { StoreAnswer, StoreFetch } from '../store.ts';
import { unavailable, understood } from './apple-answer.ts';
import type { Environment } from './payloads.ts';

/** Changed in May 2026; the hosts under itunes.apple.com are the former names. */
const hosts: Readonly<Record<Environment, string>> = {
  Production: 'https://api.storekit.apple.com',
  Sandbox: 'https://api.storekit-sandbox.apple.com',
};

/** What a call came to: an answer, nothing known under that id here, or our key not accepted here. */
export type Answered<T> =
  | { readonly kind: 'found'; readonly value: T }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly reason: string };

/** Calls of the App Store Server API in either environment. */
export interface AppStoreServer {
  /** Throws `ConnectionFailed` for whatever is no answer: an outage, a rate limit, a page, other words than expected. */
  get<S extends v.GenericSchema>(
    environment: Environment,
    path: string,
    schema: S,
  ): Promise<Answered<v.InferOutput<S>>>;
  /** The same with a question as JSON, for what Apple wants asked so. */
  post<S extends v.GenericSchema>(
    environment: Environment,
    path: string,
    question: { readonly body: object; readonly schema: S },
  ): Promise<Answered<v.InferOutput<S>>>;
}

/** The API, called with the token. */
export function appStoreServer(fetch: StoreFetch, token: string): AppStoreServer {
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
  return {
    async get(environment, path, schema) {
      return answered(await fetch(`${hosts[environment]}${path}`, { headers }), schema);
    },
    async post(environment, path, { body, schema }) {
      const question = { method: 'POST', body: JSON.stringify(body) } as const;
      const typed = { ...headers, 'content-type': 'application/json' };
      return answered(await fetch(`${hosts[environment]}${path}`, { ...question, headers: typed }), schema);
    },
  };
}

const answered = <S extends v.GenericSchema>(answer: StoreAnswer, schema: S): Answered<v.InferOutput<S>> =>
  answer.status === 200 ? { kind: 'found', value: understood(schema, answer.text) } : judged(answer);

const Problem = v.object({ errorCode: v.number() });

/** Invalid transaction id; account, original transaction or transaction not found; no download of the application. */
const missing = new Set([4000006, 4040001, 4040005, 4040010, 4040019]);
const appNotFound = 4040003;

/** Apple refuses a key with 401 and no JSON; so it answers in production for an application never released there. */
function judged({ status, text }: StoreAnswer): Answered<never> {
  if (status === 401 || status === 403) return { kind: 'refused', reason: `HTTP ${status}` };
  if (status >= 500 || status === 429) throw unavailable(`HTTP ${status}`);
  const { errorCode } = understood(Problem, text);
  if (missing.has(errorCode)) return { kind: 'missing' };
  if (errorCode === appNotFound) return { kind: 'refused', reason: 'the application is not known to the App Store' };
  throw unavailable(`HTTP ${status}, error ${errorCode}`);
}
