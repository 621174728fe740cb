import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import type { StoreContext } from '../store-context.ts';
import { callBraintree, createGateway } from './braintree-client.ts';
import { parseBraintreeObject } from './payloads.ts';

/**
 * Generates a token for Braintree's client SDK. Throws `InvalidPayload` if the customer id is unknown.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/request/client-token/generate/node
 */
export async function generateClientToken(
  customerId: string | undefined,
  context: Pick<StoreContext, 'settings' | 'fetch'>,
): Promise<string> {
  const gateway = await createGateway(context);
  const result = await callBraintree(() =>
    gateway.clientToken.generate(customerId === undefined ? {} : { customerId }),
  );
  if (!result.success) throw new ServiceError('InvalidPayload', 'customerId is not found at Braintree.');
  return parseBraintreeObject(v.string(), result.clientToken);
}
