import type { ValidateReceiptBody } from '../api/validate-receipt-body.ts';
import { omitUndefined } from '../shared/omit-undefined.ts';
import type { ValidationRequest } from '../stores/store.ts';

/** Converts the request body into the form for store adapters: without undefined fields and without device data. */
export function toValidationRequest({
  additionalData,
  products: _products,
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
    ...omitUndefined(additionalData ?? {}),
    ...(license && { license: omitUndefined(license) }),
  };
}
