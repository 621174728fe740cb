import * as v from 'valibot';
import type { ValidateBody } from '../api/validate-body.ts';
import { defined } from '../defined.ts';

/** What the event tells of the product: its own description among those that came along, or as much as was asked. */
export function productOf({ id, type, currency, priceMicros, products = [] }: ValidateBody): object {
  const described = products.find((one) => v.is(v.looseObject({ id: v.literal(id) }), one));
  return described ? { type, ...described } : { id, type, ...defined({ currency, priceMicros }) };
}
