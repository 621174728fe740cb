import * as v from 'valibot';
import { formatTime } from '../calendar.ts';
import type { StoreHttpRequest } from '../http-messages.ts';
import { findClientId } from './entra.ts';
import type { ResponseContext } from './response-context.ts';
import { badRequestError, unauthorizedError } from './service-error.ts';
import { type KeyHolder, type StoreService, verifyStoreIdKey } from './store-id-keys.ts';

/** Parses the JSON body of a call. Throws a bad request error if it does not match the schema. */
export function parseRequest<S extends v.GenericSchema>(schema: S, { body }: StoreHttpRequest): v.InferOutput<S> {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), body.toString('utf8'));
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw badRequestError(`${v.getDotPath(issue) ?? 'body'}: ${issue.message}`);
}

/** Returns the client id of the call's access token. Throws an unauthorized error without a valid token. */
export function requireClientId(context: ResponseContext, { headers }: StoreHttpRequest): string {
  const [, token] = /^Bearer (.+)$/i.exec(headers.authorization ?? '') ?? [];
  if (token === undefined) throw unauthorizedError('PartnerAadTicketRequired');
  const clientId = findClientId(context, token, 'services');
  if (clientId === undefined) throw unauthorizedError('AuthenticationTokenInvalid');
  return clientId;
}

/** Returns the holder of the call's StoreID key. The key must belong to the client of the access token. */
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

/** Sandbox id of a request. */
export const Sandbox = v.nullish(v.string(), 'RETAIL');

/** Formats a time as the store's services do, with seven decimals. */
export const toTimestamp = (at: number): string => formatTime(at).replace('Z', '0000+00:00');

const Offset = v.pipe(v.string(), v.regex(/^\d{1,9}$/));

/** Returns a page of a list. The continuation token is the offset of the next page. */
export function toPage<T>(
  all: readonly T[],
  size: number,
  {
    continuationToken,
    listLength = size,
  }: { continuationToken: string | null | undefined; listLength?: number | undefined },
) {
  const parsed = v.safeParse(Offset, Buffer.from(continuationToken ?? '', 'base64').toString());
  if (continuationToken && !parsed.success) throw badRequestError('continuationToken is invalid');
  const start = parsed.success ? Number(parsed.output) : 0;
  const end = start + Math.min(size, listLength);
  const items = all.slice(start, end);
  return { items, ...(end < all.length && { continuationToken: Buffer.from(String(end)).toString('base64') }) };
}
