import type { NativePlugin } from './cordova-page.ts';

/** The monthly subscription that the tests sell, as StoreKit describes it to a plugin. */
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

/** The body with which the emulator would have a classic receipt validated. */
export interface ReceiptBody {
  readonly id: string;
  readonly transaction: { readonly id: string; readonly appStoreReceipt: string };
}

/** StoreKit 1 with one receipt for the application, as the plugin's native side answers. */
export const createAppStoreDevice =
  ({ id, transaction }: ReceiptBody): NativePlugin =>
  (method) => {
    if (method === 'load') return [[premiumProduct], []];
    if (/^appStore(Refresh)?Receipt$/.test(method)) return [transaction.appStoreReceipt, id, '1.0', '1', '????'];
    if (method === 'getStorefront') return 'USA';
    return undefined;
  };
