import * as v from 'valibot';
import type { ValidateReceiptBody } from '../api/validate-receipt-body.ts';
import { omitUndefined } from '../shared/omit-undefined.ts';

/** What the event tells of the product: its own description among those that came along, or as much as was asked. */
export function describeProduct({ id, type, currency, priceMicros, products = [] }: ValidateReceiptBody): object {
  const described = products.find((one) => v.is(v.looseObject({ id: v.literal(id) }), one));
  return described ? { type, ...described } : { id, type, ...omitUndefined({ currency, priceMicros }) };
}
