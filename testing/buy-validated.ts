import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import type { Platform } from '../lib/foundation/platform.ts';
import { createUniqueName } from './given.ts';
import type { TestService } from './service.ts';

interface Order {
  readonly platform: Platform;
  readonly [member: string]: unknown;
}

/** Buys at an emulated store, by default as a new customer, and validates the purchase. Throws if it is rejected. */
export async function buyValidated(
  service: Pick<TestService, 'callControl' | 'validate'>,
  keys: IssuedApiKeys,
  order: Order,
) {
  const bought = { applicationUsername: createUniqueName('user'), ...order };
  const { id, validate: evidence } = await service.callControl('/purchases', bought);
  const { body } = await service.validate(keys, evidence);
  if (!body.ok) throw new Error(`${order.platform}: ${body.message}`);
  // Braintree creates the purchase with the validation.
  const purchaseId = `${order.platform}:${body.data.collection[0].purchaseId}`;
  return {
    id: id as string,
    purchaseId,
    act: async (action: string, details: object = {}) =>
      await service.callControl(`/purchases/${encodeURIComponent(id)}/${action}`, details),
  };
}
