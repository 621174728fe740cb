import { explainAccess } from '../../lib/entitlements/contract.ts';
import { findAccessReasons } from '../../lib/entitlements/find-access-reasons.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { toIsoSeconds, toNullableIsoSeconds } from '../../lib/foundation/time.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(explainAccess)(
  async ({ app, params: { applicationUsername }, query: { entitlement, productId } }, service) => {
    if ((entitlement === undefined) === (productId === undefined))
      throw new ServiceError('InvalidPayload', 'Expected either entitlement or productId.');
    const question = entitlement === undefined ? { productId: productId ?? '' } : { entitlement };
    const { isActive, because, next } = await findAccessReasons(service, app, applicationUsername, question);
    return {
      applicationUsername,
      ...question,
      isActive,
      because: because.map(({ at, ...fact }) => ({ ...fact, at: toNullableIsoSeconds(at) })),
      next: next ? { ...next, at: toIsoSeconds(next.at) } : null,
      asOf: toIsoSeconds(service.now()),
    };
  },
);
