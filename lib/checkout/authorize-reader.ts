import type { VerifiedKey } from '../apps/api-keys.ts';
import { ServiceError } from '../foundation/errors.ts';
import type { CheckoutContext } from './checkout-context.ts';
import { authorizeCustomer } from './list-checkout-purchases.ts';

interface Reader {
  readonly key: VerifiedKey;
  readonly username: string;
}

/**
 * Checks that a request may read the data of a customer. The public key is in every released app, so it requires the
 * customer's access token. Throws `Forbidden`.
 */
export async function authorizeReader(
  accessToken: string | undefined,
  { key, username }: Reader,
  context: CheckoutContext,
): Promise<void> {
  if (key.level !== 'public') return;
  if (accessToken === undefined)
    throw new ServiceError('Forbidden', "The public key requires the customer's access token.");
  await authorizeCustomer(accessToken, username, context);
}
