import type { NativePlugin } from './cordova-page.ts';

/** The monthly subscription in the format of the plugin's native side. */
export const premiumProduct = {
  id: 'premium',
  title: 'Premium',
  description: 'Everything',
  price: '$4.99',
  priceMicros: 4_990_000,
  currency: 'USD',
  countryCode: 'US',
  billingPeriod: 1,
  billingPeriodUnit: 'Month',
  discounts: [],
} as const;

/** Body for `POST /v1/validate` with a classic receipt. */
export interface ReceiptBody {
  /** Bundle id. */
  readonly id: string;
  readonly transaction: { readonly id: string; readonly appStoreReceipt: string };
}

/** Creates the native side of the plugin on a device with StoreKit 1 and this receipt. */
export const createAppStoreDevice =
  ({ id, transaction }: ReceiptBody): NativePlugin =>
  (method) => {
    if (method === 'load') return [[premiumProduct], []];
    if (/^appStore(Refresh)?Receipt$/.test(method)) return [transaction.appStoreReceipt, id, '1.0', '1', '????'];
    if (method === 'getStorefront') return 'USA';
    return undefined;
  };
