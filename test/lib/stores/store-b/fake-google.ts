import { generateKeyPairSync } from 'node:crypto';
import type { androidpublisher_v3 } from '@googleapis/androidpublisher';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';

export type SubscriptionAnswer = androidpublisher_v3.Schema$SubscriptionPurchaseV2;
export type ProductAnswer = androidpublisher_v3.Schema$ProductPurchaseV2;
export type OrderAnswer = androidpublisher_v3.Schema$Order;

export const now = Date.parse('2026-11-21T12:00:00Z');
export const later = '2026-12-21T12:00:00Z';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

const settings = {
  packageName: 'com.example.app',
  serviceAccount: {
    client_email: 'claimcheck@example.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  },
};

interface Google {
  readonly subscription?: SubscriptionAnswer;
  readonly product?: ProductAnswer;
  readonly order?: OrderAnswer;
  /** What every call but that for a token answers instead. */
  readonly garbage?: { readonly status: number; readonly text: string };
}

/** A Google that knows one purchase, in the official types; what it does not know is 404. */
export function askingGoogle(
  { subscription, product, order, garbage }: Google,
  changes: Partial<StoreContext> = {},
): StoreContext {
  const responses: readonly [RegExp, object | undefined][] = [
    [/oauth2/, { access_token: 'token', expires_in: 3600 }],
    [/subscriptionsv2/, subscription],
    [/productsv2/, product],
    [/orders/, order],
  ];
  return {
    appName: 'app',
    settings,
    now: () => now,
    extraRoots: [],
    runOnce: async (_key, run) => await run(),
    fetch: async (url) => {
      if (garbage && !url.includes('oauth2')) return { ...garbage, headers: new Headers() };
      const found = responses.find(([path]) => path.test(url))?.[1];
      return {
        status: found ? 200 : 404,
        headers: new Headers(),
        text: JSON.stringify(found ?? { error: { code: 404 } }),
      };
    },
    ...changes,
  };
}

/** The request of a client for the product `premium`. */
export const request = (type: 'paid subscription' | 'consumable' | 'non consumable' = 'paid subscription') => ({
  id: 'premium',
  type,
  transaction: { type: 'android-store', purchaseToken: 'token-1' },
});
