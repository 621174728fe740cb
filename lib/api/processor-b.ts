import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { Username } from './identifiers.ts';

/** Clients send what they have not got as null or as an empty text. */
const nullableOptional = <const S extends v.GenericSchema>(schema: S) =>
  v.optional(
    v.union([
      v.pipe(
        v.nullable(v.literal('')),
        v.transform(() => undefined),
      ),
      schema,
    ]),
  );

export const createClientToken = defineContract({
  id: 'create-client-token',
  area: 'processor-b',
  summary: "Creates a token for the processor's form in a client",
  method: 'POST',
  path: '/v3/processor_b/client-token',
  aliases: ['/v3/braintree/client-token'],
  keyLevel: 'public',
  errorFormat: 'client-token',
  eventType: 'client-token.created',
  // Spec: required. Clients that exist today leave it out before their user has signed in, and the token needs none.
  body: v.object({
    applicationUsername: nullableOptional(Username),
    customerId: nullableOptional(
      v.pipe(v.string(), v.regex(/^[\w-]{1,36}$/, 'an id of 1 to 36 letters, digits, _ and -')),
    ),
  }),
  response: v.strictObject({ success: v.literal(true), clientToken: v.string() }),
  permissions: ['stores'],
});
