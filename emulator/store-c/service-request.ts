import * as v from 'valibot';
import type { StoreHttpRequest } from '../http-messages.ts';
import { findClientId } from './entra.ts';
import type { ResponseContext } from './response-context.ts';
import { badRequestError, unauthorizedError } from './service-error.ts';
import { type KeyHolder, type StoreService, verifyStoreIdKey } from './store-id-keys.ts';

/** The JSON body of a call as the schema's type. */
export function parseRequest<S extends v.GenericSchema>(schema: S, { body }: StoreHttpRequest): v.InferOutput<S> {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), body.toString('utf8'));
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw badRequestError(`${v.getDotPath(issue) ?? 'body'}: ${issue.message}`);
}

/** The application that the call's access token was given to. */
export function requireClientId(context: ResponseContext, { headers }: StoreHttpRequest): string {
  const [, token] = /^Bearer (.+)$/i.exec(headers.authorization ?? '') ?? [];
  if (token === undefined) throw unauthorizedError('PartnerAadTicketRequired');
  const clientId = findClientId(context, token, 'services');
  if (clientId === undefined) throw unauthorizedError('AuthenticationTokenInvalid');
  return clientId;
}

/** Whom the key of a call stands for; the key must have been made with a ticket of the caller. */
export function requireKeyHolder(
  context: ResponseContext,
  call: StoreHttpRequest,
  { service, key }: { service: StoreService; key: string },
): KeyHolder {
  const caller = requireClientId(context, call);
  const holder = verifyStoreIdKey(context, service, key);
  if (holder.clientId !== caller.replaceAll('-', '')) throw unauthorizedError('InconsistentClientId');
  return holder;
}

/** Which sandbox a request asks about. */
export const Sandbox = v.nullish(v.string(), 'RETAIL');

/** A moment as the store's services write it. */
export const toTimestamp = (at: number): string => new Date(at).toISOString().replace('Z', '0000+00:00');

const Offset = v.pipe(v.string(), v.regex(/^\d{1,9}$/));

/** A page of a list; the continuation token is where the next one starts. */
export function toPage<T>(all: readonly T[], size: number, continuationToken?: string | null) {
  const parsed = v.safeParse(Offset, Buffer.from(continuationToken ?? '', 'base64').toString());
  if (continuationToken && !parsed.success) throw badRequestError('continuationToken: it is not one of this service');
  const start = parsed.success ? Number(parsed.output) : 0;
  const end = start + size;
  const items = all.slice(start, end);
  return { items, ...(end < all.length && { continuationToken: Buffer.from(String(end)).toString('base64') }) };
}
