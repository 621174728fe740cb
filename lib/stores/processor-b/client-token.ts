import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import type { StoreContext } from '../store-context.ts';
import { callBraintree, createGateway } from './braintree-client.ts';
import { parseBraintreeObject } from './payloads.ts';

/** A token with which a client starts the processor's own form; throws `InvalidPayload` for an unknown customer. */
export async function generateClientToken(customerId: string | undefined, context: StoreContext): Promise<string> {
  const gateway = await createGateway(context);
  const result = await callBraintree(() =>
    gateway.clientToken.generate(customerId === undefined ? {} : { customerId }),
  );
  if (!result.success) throw new ServiceError('InvalidPayload', 'The processor does not know this customer.');
  return parseBraintreeObject(v.string(), result.clientToken);
}
