import { actOnPurchase, listPurchaseActions } from '../lib/actions/contract.ts';
import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import type { Platform } from '../lib/foundation/platform.ts';
import { buyValidated } from './buy-validated.ts';
import { type CallResult, callWithSecretKey } from './call.ts';
import { createUniqueName } from './given.ts';
import type { TestService } from './service.ts';

/** A validated purchase at an emulated store. */
export interface BoughtPurchase {
  readonly keys: IssuedApiKeys;
  readonly id: string;
  readonly purchaseId: string;
  readonly applicationUsername: string;
  act(body: object): Promise<CallResult>;
  list(): Promise<CallResult>;
  control(action: string, details?: object): Promise<void>;
}

/** Buys at an emulated store and validates the purchase. */
export async function buyForActions(
  service: TestService,
  platform: Platform,
  order: object = {},
): Promise<BoughtPurchase> {
  const keys = await service.createApp([platform]);
  const applicationUsername = createUniqueName('user');
  const premium = { productId: 'premium', type: 'paid subscription', applicationUsername, autoRenew: true };
  const { id, purchaseId, act } = await buyValidated(service, keys, { ...premium, ...order, platform });
  const params = { purchaseId };
  return {
    keys,
    id,
    purchaseId,
    applicationUsername,
    act: async (body) =>
      await callWithSecretKey(actOnPurchase, keys, { params, body: { reason: 'Ticket 4711', ...body } }),
    list: async () => await callWithSecretKey(listPurchaseActions, keys, { params }),
    control: async (action, details) => void (await act(action, details)),
  };
}
