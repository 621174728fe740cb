import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { Username } from './identifiers.ts';
import { nullableOptional } from './schemas.ts';

export const createClientToken = defineContract({
  id: 'create-client-token',
  area: 'braintree',
  summary: 'Create a client token for the payment form of the processor',
  method: 'POST',
  path: '/v3/processor_b/client-token',
  aliases: ['/v3/braintree/client-token'],
  keyLevel: 'public',
  errorFormat: 'client-token',
  eventType: 'client-token.created',
  body: v.object({
    /** Required, except on the path of released clients, which omit it before the customer has signed in. */
    applicationUsername: nullableOptional(Username),
    /** `customer.id` of the buyer's own validation. Any other id is for a new customer. */
    customerId: nullableOptional(v.pipe(v.string(), v.maxLength(512))),
  }),
  response: v.union([
    v.strictObject({ success: v.literal(true), clientToken: v.string() }),
    v.strictObject({ success: v.literal(false), message: v.string() }),
  ]),
  permissions: ['stores'],
});
