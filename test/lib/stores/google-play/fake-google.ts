import type { androidpublisher_v3 } from '@googleapis/androidpublisher';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { createRsaKeyPair } from '../../../../testing/run-keys.ts';
import { stoppedStopwatch } from '../../../../testing/stopwatch.ts';

export type SubscriptionResponse = androidpublisher_v3.Schema$SubscriptionPurchaseV2;
export type ProductResponse = androidpublisher_v3.Schema$ProductPurchaseV2;
export type OrderResponse = androidpublisher_v3.Schema$Order;

export const now = Date.parse('2026-11-21T12:00:00Z');
export const expiryTime = '2026-12-21T12:00:00Z';

const { privateKey } = createRsaKeyPair();

const settings = {
  packageName: 'com.example.app',
  serviceAccount: {
    client_email: 'claimcheck@example.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  },
};

interface GoogleResponses {
  readonly subscription?: SubscriptionResponse;
  readonly product?: ProductResponse;
  readonly order?: OrderResponse;
  /** Response to every call except the token request. */
  readonly garbage?: { readonly status: number; readonly text: string };
}

/** Creates a context whose fetch returns these responses, in Google's own types. Other calls return 404. */
export function createGoogleContext(
  { subscription, product, order, garbage }: GoogleResponses,
  changes: Partial<StoreContext> = {},
): StoreContext {
  const responses: readonly [RegExp, object | undefined][] = [
    [/oauth2/, { access_token: 'token', expires_in: 3600 }],
    [/subscriptionsv2/, subscription],
    [/productsv2/, product],
    [order?.orderId ? new RegExp(`/orders/${order.orderId}$`) : /orders/, order],
  ];
  return {
    appName: 'app',
    settings,
    now: () => now,
    stopwatch: stoppedStopwatch,
    extraRoots: [],
    runOnce: async (_key, run) => await run(),
    fetch: async (url) => {
      if (garbage && !url.includes('oauth2')) return { ...garbage, headers: {} };
      const body = responses.find(([path]) => path.test(url))?.[1];
      return {
        status: body ? 200 : 404,
        headers: {},
        text: JSON.stringify(body ?? { error: { code: 404 } }),
      };
    },
    ...changes,
  };
}

/** Creates a client's request for the product `premium`. */
export const createRequest = (type: 'paid subscription' | 'consumable' | 'non consumable' = 'paid subscription') => ({
  id: 'premium',
  type,
  transaction: { type: 'android-store', purchaseToken: 'token-1' },
});
