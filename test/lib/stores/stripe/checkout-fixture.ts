import type { IssuedApiKeys } from '../../../../lib/apps/manage-apps.ts';
import { findStoreSettings } from '../../../../lib/apps/store-settings-table.ts';
import { createEventRecorder } from '../../../../lib/events/event-recorder.ts';
import { getService } from '../../../../lib/foundation/get-service.ts';
import type { Purchase } from '../../../../lib/purchases/purchase.ts';
import { findPurchase } from '../../../../lib/purchases/purchase-table.ts';
import { createStoreContext } from '../../../../lib/stores/create-store-context.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { startTestService, type TestService } from '../../../../testing/service.ts';

interface AppPlatform {
  readonly appName: string;
  readonly platform: 'processor_a' | 'service_processor_a';
}

/** The service with one app and its emulated Stripe account. */
export interface CheckoutService extends TestService {
  readonly keys: IssuedApiKeys;
  /** Creates a purchase in the emulator, by default a monthly subscription. Returns the control API's response. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  buy(order?: object): Promise<any>;
  /** Runs an action of the control API on a purchase. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  act(id: string, action: string, details?: object): Promise<any>;
  /** Validates the purchase at the service. Returns the response body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  validatePurchase(id: string, form?: string): Promise<any>;
  findStoredPurchase(id: string): Promise<Purchase | undefined>;
  createContext(): Promise<StoreContext>;
  /** Sends a GET request to the Stripe API with the secret key of an app. The default is the service's own app. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  fetchFromStripe(path: string, app?: AppPlatform): Promise<any>;
}

/** Starts the service with one app that sells through the emulated Stripe account. */
export async function startCheckoutService(): Promise<CheckoutService> {
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
    validatePurchase: async (id, form = 'purchase') => {
      const { validate } = await service.callControl(`/purchases/${id}?form=${form}`);
      return (await service.validate(keys, validate)).body;
    },
    findStoredPurchase: async (id) => (await findPurchase(getService(), keys.appName, `processor_a:${id}`))?.purchase,
    createContext: async () => {
      const recorder = createEventRecorder({ type: 'test', date: getService().now() });
      return await createStoreContext(getService(), keys.appName, { platform: 'processor_a', recorder });
    },
    fetchFromStripe: async (path, { appName, platform } = { appName: keys.appName, platform: 'processor_a' }) => {
      const { secretKey } = (await findStoreSettings(getService(), appName, platform)) as { secretKey: string };
      const headers = { authorization: `Bearer ${secretKey}` };
      return await (await fetch(`${service.emulatorUrl}/api.stripe.com/v1/${path}`, { headers })).json();
    },
  };
}
