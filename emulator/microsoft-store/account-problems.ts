import type { EmulatedStore } from '../emulated-store.ts';
import { tokenErrorResponse } from './entra.ts';
import { toErrorResponse, unauthorizedError } from './service-error.ts';

const entra = 'login.microsoftonline.com';
const services: readonly string[] = ['collections.mp.microsoft.com', 'purchase.mp.microsoft.com'];

/**
 * Problems of an account at Microsoft:
 * - `secret-expired`: the client secret has expired.
 * - `not-associated`: the Entra application is not associated with the product in Partner Center.
 *
 * @see https://learn.microsoft.com/en-us/entra/identity-platform/reference-error-codes
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/view-and-grant-products-from-a-service
 */
export const accountProblems: EmulatedStore['accountProblems'] = {
  'secret-expired': ({ host }) =>
    host === entra
      ? tokenErrorResponse(
          401,
          'invalid_client',
          'AADSTS7000222: The provided client secret keys for app are expired. Visit the Azure portal to create new keys for your app: https://aka.ms/NewClientSecret, or consider using certificate credentials for added security: https://aka.ms/certCreds.',
        )
      : undefined,
  'not-associated': ({ host }) =>
    services.includes(host) ? toErrorResponse(unauthorizedError('PartnerAadTicketRequired')) : undefined,
};
