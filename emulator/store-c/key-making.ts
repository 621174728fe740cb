import * as v from 'valibot';
import { type Answer, json, type StoreCall } from '../http-messages.ts';
import { accountNamed } from './books.ts';
import { applicationOf } from './entra.ts';
import type { Account } from './records.ts';
import { notFound, unauthorized } from './service-error.ts';
import { requested } from './service-request.ts';
import type { Source } from './source.ts';
import { holderOf, Service, storeIdKey } from './store-id-keys.ts';

const Making = v.object({
  serviceTicket: v.string(),
  publisherUserId: v.string(),
  /** A purchase of the customer, for one who has no name. */
  purchaseId: v.exactOptional(v.string()),
});

/**
 * Stands for a customer's device: what `GetCustomerCollectionsIdAsync` and `GetCustomerPurchaseIdAsync` do with a service
 * ticket. The device knows who its customer is; here the publisher's user id, or a purchase, tells.
 */
export function makeKey(source: Source, call: StoreCall): Answer {
  const service = v.parse(Service, call.path.slice(call.path.lastIndexOf('/') + 1));
  const { serviceTicket, publisherUserId, purchaseId } = requested(Making, call);
  const clientId = applicationOf(source, serviceTicket, service);
  if (clientId === undefined) throw unauthorized('AuthenticationTokenInvalid');
  const account = customerOf(source, publisherUserId, purchaseId);
  if (account === undefined) throw notFound('No such customer bought anything.');
  return json(200, { key: storeIdKey(source, service, { account, userId: publisherUserId, clientId }) });
}

function customerOf({ books }: Source, publisherUserId: string, purchaseId?: string): Account | undefined {
  if (purchaseId === undefined) return accountNamed(books, publisherUserId);
  return books.accounts.get(books.purchases.get(purchaseId)?.accountId ?? '');
}

const Renewing = v.pipe(
  v.object({ serviceTicket: v.string(), key: v.exactOptional(v.string()), Key: v.exactOptional(v.string()) }),
  v.check(({ key, Key }) => (key ?? Key) !== undefined, 'expected a key'),
);

/** A new key of the same customer for one that has not expired yet; the ticket is the token of the services here. */
export function renewKey(source: Source, call: StoreCall, service: Service): Answer {
  const { serviceTicket, key, Key = '' } = requested(Renewing, call);
  const clientId = applicationOf(source, serviceTicket, 'services');
  if (clientId === undefined) throw unauthorized('AuthenticationTokenInvalid');
  const holder = holderOf(source, service, key ?? Key);
  if (holder.clientId !== clientId.replaceAll('-', '')) throw unauthorized('InconsistentClientId');
  return json(200, { key: storeIdKey(source, service, holder) });
}
