import * as v from 'valibot';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { ValidateReceiptBody } from './request-contract.ts';

/**
 * Returns the description of the requested product for the event: from the submitted product list, or from the request.
 */
export function describeProduct({ id, type, currency, priceMicros, products = [] }: ValidateReceiptBody): object {
  const submitted = products.find((product) => v.is(v.looseObject({ id: v.literal(id) }), product));
  return submitted ? { type, ...submitted } : { id, type, ...omitUndefined({ currency, priceMicros }) };
}
