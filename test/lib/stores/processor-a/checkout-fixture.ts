import type { IssuedApiKeys } from '../../../../lib/apps/manage-apps.ts';
import { deps } from '../../../../lib/deps.ts';
import { createEventRecorder } from '../../../../lib/events/event-recorder.ts';
import type { Purchase } from '../../../../lib/purchases/purchase.ts';
import { createStoreContext } from '../../../../lib/stores/create-store-context.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { startTestService, type TestService } from '../../../../testing/service.ts';

/** Through whose account an application sells. */
interface Account {
  readonly appName: string;
  readonly platform: 'processor_a' | 'service_processor_a';
}

/** The service with an application that sells through the emulated account, and that account's customers. */
export interface SoldService extends TestService {
  readonly keys: IssuedApiKeys;
  /** Buys a monthly subscription, or what `order` says; gives what the control API shows. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  buy(order?: object): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  act(id: string, action: string, details?: object): Promise<any>;
  /** The answer to a validation of the purchase now. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  again(id: string, form?: string): Promise<any>;
  stored(id: string): Promise<Purchase | undefined>;
  asking(): Promise<StoreContext>;
  /** A read of the processor's API with the key of that application's account, or of the usual one's. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  read(path: string, account?: Account): Promise<any>;
}

export async function startSoldService(): Promise<SoldService> {
  const service = await startTestService();
  const keys = await service.createApp(['processor_a']);
  let users = 0;
  return {
    ...service,
    keys,
    buy: async (order = {}) => {
      const applicationUsername = `user-${++users}`;
      const plan = { platform: 'processor_a', productId: 'plan', type: 'paid subscription', applicationUsername };
      return await service.callControl('/purchases', { ...plan, ...order });
    },
    act: async (id, action, details = {}) => await service.callControl(`/purchases/${id}/${action}`, details),
    again: async (id, form = 'purchase') => {
      const { validate } = await service.callControl(`/purchases/${id}?form=${form}`);
      return (await service.validate(keys, validate)).body;
    },
    stored: async (id) => (await deps().purchases.find(keys.appName, `processor_a:${id}`))?.purchase,
    asking: async () => {
      const recorder = createEventRecorder({ type: 'test', date: deps().now() });
      return await createStoreContext(keys.appName, 'processor_a', { recorder, deps: deps() });
    },
    read: async (path, { appName, platform } = { appName: keys.appName, platform: 'processor_a' }) => {
      const { secretKey } = (await deps().apps.findStoreSettings(appName, platform)) as { secretKey: string };
      const headers = { authorization: `Bearer ${secretKey}` };
      return await (await fetch(`${service.emulatorUrl}/api.stripe.com/v1/${path}`, { headers })).json();
    },
  };
}
