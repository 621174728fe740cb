import * as v from 'valibot';
import { type HttpResponse, jsonResponse, type StoreHttpRequest } from '../http-messages.ts';
import { findClientId } from './entra.ts';
import type { Account } from './records.ts';
import type { ResponseContext } from './response-context.ts';
import { notFoundError, unauthorizedError } from './service-error.ts';
import { parseRequest } from './service-request.ts';
import { StoreService, signStoreIdKey, verifyStoreIdKey } from './store-id-keys.ts';
import { findAccount } from './store-state.ts';

const CreateKeyBody = v.object({
  serviceTicket: v.string(),
  publisherUserId: v.string(),
  /** Purchase that identifies a customer without a username. */
  purchaseId: v.exactOptional(v.string()),
});

/**
 * Creates a StoreID key from a service ticket, like `GetCustomerCollectionsIdAsync` and `GetCustomerPurchaseIdAsync` on
 * a device. The device is signed in; here `publisherUserId` or `purchaseId` identifies the customer.
 *
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/view-and-grant-products-from-a-service
 */
export function createKey(context: ResponseContext, call: StoreHttpRequest): HttpResponse {
  const service = v.parse(StoreService, call.path.slice(call.path.lastIndexOf('/') + 1));
  const { serviceTicket, publisherUserId, purchaseId } = parseRequest(CreateKeyBody, call);
  const clientId = findClientId(context, serviceTicket, service);
  if (clientId === undefined) throw unauthorizedError('AuthenticationTokenInvalid');
  const account = findCustomer(context, publisherUserId, purchaseId);
  if (account === undefined) throw notFoundError('The customer was not found.');
  return jsonResponse(200, { key: signStoreIdKey(context, service, { account, userId: publisherUserId, clientId }) });
}

function findCustomer({ state }: ResponseContext, publisherUserId: string, purchaseId?: string): Account | undefined {
  if (purchaseId === undefined) return findAccount(state, publisherUserId);
  return state.accounts.get(state.purchases.get(purchaseId)?.accountId ?? '');
}

const RenewKeyBody = v.pipe(
  v.object({ serviceTicket: v.string(), key: v.exactOptional(v.string()), Key: v.exactOptional(v.string()) }),
  v.check(({ key, Key }) => (key ?? Key) !== undefined, 'expected a key'),
);

/**
 * Renews a key that has not expired. `serviceTicket` is an access token for the services.
 *
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/renew-a-windows-store-id-key
 */
export function renewKey(context: ResponseContext, call: StoreHttpRequest, service: StoreService): HttpResponse {
  const { serviceTicket, key, Key = '' } = parseRequest(RenewKeyBody, call);
  const clientId = findClientId(context, serviceTicket, 'services');
  if (clientId === undefined) throw unauthorizedError('AuthenticationTokenInvalid');
  const holder = verifyStoreIdKey(context, service, key ?? Key);
  if (holder.clientId !== clientId.replaceAll('-', '')) throw unauthorizedError('InconsistentClientId');
  return jsonResponse(200, { key: signStoreIdKey(context, service, holder) });
}
