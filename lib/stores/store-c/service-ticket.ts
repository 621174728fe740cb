import { ServiceError } from '../../shared/errors.ts';
import type { ValidationRequest } from '../store.ts';
import { getAccessToken } from './entra.ts';
import type { MicrosoftSession } from './session.ts';
import type { StoreService } from './store-id-key.ts';

const messages: Readonly<Record<StoreService, string>> = {
  collections: 'A StoreID key for collections is needed.',
  purchase: 'A StoreID key for purchases is needed.',
};

/** The error for someone who cannot make a key: a refresh, which no client waits for. */
export const missingKeyError = (service: StoreService): ServiceError =>
  new ServiceError('NeedMoreData', messages[service]);

/**
 * The error that gives a client the ticket with which its device makes the StoreID key. The specification puts the ticket
 * into `data`, clients that exist today read it in `data.transaction`.
 */
export async function createTicketError(
  session: MicrosoftSession,
  service: StoreService,
  request: ValidationRequest,
): Promise<ServiceError> {
  const ticket = { serviceTicketType: service, serviceTicket: await getAccessToken(session, service) };
  const { type } = request.transaction;
  return new ServiceError('NeedMoreData', messages[service], {
    data: { ...ticket, transaction: { ...(type !== undefined && { type }), ...ticket } },
  });
}
