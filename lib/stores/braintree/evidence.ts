import * as v from 'valibot';
import { parse } from '../../foundation/parse.ts';
import type { ValidationRequest } from '../store.ts';

/** A payment method nonce of Braintree's client SDK. */
const Evidence = v.object({
  paymentMethodNonce: v.pipe(v.string(), v.minLength(1), v.maxLength(1_000)),
  deviceData: v.optional(v.unknown()),
});
export type Evidence = v.InferOutput<typeof Evidence>;

/** Parses the nonce of a request. Throws `InvalidPayload` if it is missing. */
export const parseEvidence = (transaction: ValidationRequest['transaction']): Evidence => parse(Evidence, transaction);
