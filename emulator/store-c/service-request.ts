import * as v from 'valibot';
import type { StoreCall } from '../http-messages.ts';
import { applicationOf } from './entra.ts';
import { badRequest, unauthorized } from './service-error.ts';
import type { Source } from './source.ts';
import { holderOf, type KeyHolder, type Service } from './store-id-keys.ts';

/** The JSON body of a call as the schema's type. */
export function requested<S extends v.GenericSchema>(schema: S, { body }: StoreCall): v.InferOutput<S> {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), body.toString('utf8'));
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw badRequest(`${v.getDotPath(issue) ?? 'body'}: ${issue.message}`);
}

/** The application that the call's access token was given to. */
export function callerOf(source: Source, { headers }: StoreCall): string {
  const [, token] = /^Bearer (.+)$/i.exec(headers.authorization ?? '') ?? [];
  if (token === undefined) throw unauthorized('PartnerAadTicketRequired');
  const clientId = applicationOf(source, token, 'services');
  if (clientId === undefined) throw unauthorized('AuthenticationTokenInvalid');
  return clientId;
}

/** Whom the key of a call stands for; the key must have been made with a ticket of the caller. */
export function askedAbout(
  source: Source,
  call: StoreCall,
  { service, key }: { service: Service; key: string },
): KeyHolder {
  const caller = callerOf(source, call);
  const holder = holderOf(source, service, key);
  if (holder.clientId !== caller.replaceAll('-', '')) throw unauthorized('InconsistentClientId');
  return holder;
}

/** Which sandbox a request asks about. */
export const Sandbox = v.nullish(v.string(), 'RETAIL');

/** A moment as the store's services write it. */
export const written = (at: number): string => new Date(at).toISOString().replace('Z', '0000+00:00');

const Offset = v.pipe(v.string(), v.regex(/^\d{1,9}$/));

/** A page of a list; the continuation token is where the next one starts. */
export function pageOf<T>(all: readonly T[], size: number, continuationToken?: string | null) {
  const parsed = v.safeParse(Offset, Buffer.from(continuationToken ?? '', 'base64').toString());
  if (continuationToken && !parsed.success) throw badRequest('continuationToken: it is not one of this service');
  const start = parsed.success ? Number(parsed.output) : 0;
  const end = start + size;
  const items = all.slice(start, end);
  return { items, ...(end < all.length && { continuationToken: Buffer.from(String(end)).toString('base64') }) };
}
