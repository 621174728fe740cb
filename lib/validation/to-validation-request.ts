import type { ValidateReceiptBody } from '../api/validate-receipt-body.ts';
import { omitUndefined } from '../shared/omit-undefined.ts';
import type { ValidationRequest } from '../stores/store.ts';

/** The wire request without what is undefined, as adapters get it. */
export function toValidationRequest({
  additionalData,
  products: _products,
  countryCode: _country,
  license,
  ...body
}: ValidateReceiptBody): ValidationRequest {
  const { id, type, transaction, ...hints } = body;
  return {
    id,
    type,
    transaction,
    ...omitUndefined(hints),
    ...omitUndefined(additionalData ?? {}),
    ...(license && { license: omitUndefined(license) }),
  };
}
