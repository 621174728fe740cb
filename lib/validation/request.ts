import type { ValidateBody } from '../api/validate-body.ts';
import { defined } from '../defined.ts';
import type { ValidationRequest } from '../stores/store.ts';

/** The wire request without what is undefined, as adapters get it. */
export function validationRequest({
  additionalData,
  products: _products,
  countryCode: _country,
  license,
  ...body
}: ValidateBody): ValidationRequest {
  const { id, type, transaction, ...hints } = body;
  return {
    id,
    type,
    transaction,
    ...defined(hints),
    ...defined(additionalData ?? {}),
    ...(license && { license: defined(license) }),
  };
}
