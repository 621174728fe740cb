import * as v from 'valibot';
import type { StoreContext } from '../store-context.ts';
import { unavailableError } from './api-errors.ts';
import { callBraintree, createGateway } from './braintree-client.ts';
import { parseBraintreeObject } from './payloads.ts';

/**
 * Generates a token for Braintree's client SDK. With `customerId`, the SDK shows and manages the saved payment methods
 * of this customer. Without it, or if Braintree has deleted the customer, the token is for a new customer.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/request/client-token/generate/node
 */
export async function generateClientToken(
  customerId: string | undefined,
  context: Pick<StoreContext, 'settings' | 'fetch' | 'stopwatch'>,
): Promise<string> {
  const gateway = await createGateway(context);
  const requests = customerId === undefined ? [{}] : [{ customerId }, {}];
  for (const request of requests) {
    const result = await callBraintree(() => gateway.clientToken.generate(request));
    if (result.success) return parseBraintreeObject(v.string(), result.clientToken);
  }
  throw unavailableError('The client token was rejected.');
}
