import { ServiceError } from '../../errors.ts';
import type { ValidationRequest } from '../store.ts';
import { accessToken } from './entra.ts';
import type { Session } from './session.ts';
import type { Service } from './store-id-key.ts';

const messages: Readonly<Record<Service, string>> = {
  collections: 'A StoreID key for collections is needed.',
  purchase: 'A StoreID key for purchases is needed.',
};

/** The error for someone who cannot make a key: a refresh, which no client waits for. */
export const keyNeeded = (service: Service): ServiceError => new ServiceError('NeedMoreData', messages[service]);

/**
 * The error that gives a client the ticket with which its device makes the StoreID key. The specification puts the ticket
 * into `data`, clients that exist today read it in `data.transaction`.
 */
export async function ticketError(
  session: Session,
  service: Service,
  request: ValidationRequest,
): Promise<ServiceError> {
  const ticket = { serviceTicketType: service, serviceTicket: await accessToken(session, service) };
  const { type } = request.transaction;
  return new ServiceError('NeedMoreData', messages[service], {
    data: { ...ticket, transaction: { ...(type !== undefined && { type }), ...ticket } },
  });
}
