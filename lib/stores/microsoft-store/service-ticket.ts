import { ServiceError } from '../../foundation/errors.ts';
import type { ValidationRequest } from '../store.ts';
import { getAccessToken } from './entra.ts';
import type { MicrosoftSession } from './session.ts';
import type { StoreService } from './store-id-key.ts';

const missingKeyMessages: Readonly<Record<StoreService, string>> = {
  collections: 'A StoreID key for collections is required.',
  purchase: 'A StoreID key for purchases is required.',
};

/**
 * Creates the error of a refresh that needs a new StoreID key. It lacks a ticket, because only a client can use one.
 */
export const missingKeyError = (service: StoreService): ServiceError =>
  new ServiceError('NeedMoreData', missingKeyMessages[service]);

/**
 * Creates the error with the service ticket that a client's device exchanges for a StoreID key. The specification has
 * the ticket in `data`, existing clients read it from `data.transaction`.
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/view-and-grant-products-from-a-service
 */
export async function createTicketError(
  session: MicrosoftSession,
  service: StoreService,
  request: ValidationRequest,
): Promise<ServiceError> {
  const ticket = { serviceTicketType: service, serviceTicket: await getAccessToken(session, service) };
  const { type } = request.transaction;
  return new ServiceError('NeedMoreData', missingKeyMessages[service], {
    data: { ...ticket, transaction: { ...(type !== undefined && { type }), ...ticket } },
  });
}
