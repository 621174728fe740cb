import * as v from 'valibot';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { ValidationRequest } from '../stores/store.ts';
import type { ValidateReceiptBody } from './request-contract.ts';

/** Converts the request body into the form for store adapters: without undefined fields and without device data. */
export function toValidationRequest({
  additionalData,
  products = [],
  countryCode: _countryCode,
  license,
  ...body
}: ValidateReceiptBody): ValidationRequest {
  const { id, type, transaction, ...productHints } = body;
  return {
    id,
    type,
    transaction,
    ...omitUndefined(productHints),
    ...(products.length > 0 && { products: products.flatMap(toProduct) }),
    ...omitUndefined(additionalData ?? {}),
    ...(license && { license: omitUndefined(license) }),
  };
}

const Group = v.pipe(v.string(), v.minLength(1));

/** A product as clients send it, with its subscription group at the product or at its offers. */
const SubmittedProduct = v.looseObject({
  id: v.pipe(v.string(), v.minLength(1)),
  group: v.optional(v.unknown()),
  offers: v.optional(v.unknown()),
});
const Offers = v.array(v.looseObject({ productGroup: v.optional(v.unknown()) }));

/** Returns an array without the product if it is not valid: clients send it in many forms. */
function toProduct(submitted: unknown): NonNullable<ValidationRequest['products']> {
  if (!v.is(SubmittedProduct, submitted)) return [];
  const { id, group, offers } = submitted;
  const offerGroups = v.is(Offers, offers) ? offers.map(({ productGroup }) => productGroup) : [];
  const productGroup = [group, ...offerGroups].find((candidate) => v.is(Group, candidate));
  return [{ id, ...(v.is(Group, productGroup) && { group: productGroup }) }];
}

/**
 * Returns the description of the requested product for the event: from the submitted product list, or from the request.
 */
export function describeProduct({ id, type, currency, priceMicros, products = [] }: ValidateReceiptBody): object {
  const submitted = products.find((product) => v.is(v.looseObject({ id: v.literal(id) }), product));
  return submitted ? { type, ...submitted } : { id, type, ...omitUndefined({ currency, priceMicros }) };
}
