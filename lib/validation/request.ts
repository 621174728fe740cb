import type { ValidateBody } from '../api/validate-body.ts';
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

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const defined = <T extends object>(record: T): Defined<T> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Defined<T>;
