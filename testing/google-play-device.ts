import { type CordovaPage, openCordovaPage } from './cordova-page.ts';

/** Body for `POST /v1/validate` with a purchase of the Play Store. */
export interface PlayBody {
  /** Product id. */
  readonly id: string;
  readonly transaction: { readonly id: string; readonly receipt: string; readonly signature: string };
}

/** The monthly subscription of the tests, as version 13 of the plugin receives it from the device. */
export const productDetails = {
  productId: 'premium',
  title: 'Premium (Demo)',
  name: 'Premium',
  description: 'Everything',
  product_format: 'v12.0',
  product_type: 'subs',
  offers: [
    {
      base_plan_id: 'p1m',
      token: 'offer-token',
      tags: [],
      pricing_phases: [
        {
          billing_cycle_count: 0,
          billing_period: 'P1M',
          formatted_price: '$4.99',
          price_amount_micros: 4_990_000,
          price_currency_code: 'USD',
          recurrence_mode: 'INFINITE_RECURRING',
        },
      ],
    },
  ],
} as const;

/** The monthly subscription of the tests, as version 11 of the plugin receives it from the device. */
export const skuDetails = {
  productId: 'premium',
  type: 'subs',
  title: 'Premium (Demo)',
  name: 'Premium',
  description: 'Everything',
  price: '$4.99',
  price_amount_micros: 4_990_000,
  price_currency_code: 'USD',
  subscriptionPeriod: 'P1M',
} as const;

/** A consumable, as version 13 of the plugin receives it from the device. */
export const consumableDetails = {
  productId: 'coins',
  title: 'Coins (Demo)',
  name: 'Coins',
  description: 'A hundred coins',
  product_format: 'v12.0',
  product_type: 'inapp',
  formatted_price: '$0.99',
  price_amount_micros: 990_000,
  price_currency_code: 'USD',
} as const;

/** A consumable, as version 11 of the plugin receives it from the device. */
export const consumableSkuDetails = {
  productId: 'coins',
  type: 'inapp',
  title: 'Coins (Demo)',
  name: 'Coins',
  description: 'A hundred coins',
  price: '$0.99',
  price_amount_micros: 990_000,
  price_currency_code: 'USD',
} as const;

/** The page of an app on a device whose Play Store has one purchase. */
export interface PlayPage extends CordovaPage {
  /** Arguments of the plugin's calls that acknowledge a purchase, oldest first. */
  readonly acknowledgements: readonly (readonly unknown[])[];
  /** Arguments of the plugin's calls that consume a purchase, oldest first. */
  readonly consumptions: readonly (readonly unknown[])[];
  /** Messages of uncaught exceptions. */
  readonly crashes: readonly string[];
}

/** Opens a page on a device that has the purchase of `body` and sells the product of `details`. */
export function openPlayPage(body: PlayBody, details: object): PlayPage {
  const acknowledgements: (readonly unknown[])[] = [];
  const consumptions: (readonly unknown[])[] = [];
  let notifyListener = (_message: object): void => {};
  const page = openCordovaPage('android', (method, args) => {
    if (method === 'getAvailableProducts') return [details];
    if (method === 'getStorefront') return 'US';
    // The device delivers the purchases through the listener; the result only confirms the request.
    if (method === 'getPurchases') {
      notifyListener({ type: 'setPurchases', data: { purchases: [toNativePurchase(body)] } });
    }
    if (method === 'acknowledgePurchase') acknowledgements.push(args);
    if (method === 'consumePurchase') consumptions.push(args);
    return 'OK';
  });
  const crashes: string[] = [];
  page.window.addEventListener('error', ({ message }: { message: string }) => crashes.push(message));
  const { cordova } = page.window;
  const exec: Exec = cordova.exec;
  cordova.exec = ((success, error, service, method, args) => {
    if (method === 'setListener') notifyListener = success;
    else exec(success, error, service, method, args);
  }) satisfies Exec;
  return { ...page, acknowledgements, consumptions, crashes };
}

type Exec = (success: Listener, error: Listener, service: string, method: string, args: readonly unknown[]) => void;
type Listener = (message: unknown) => void;

/** Builds a purchase in the format of the plugin's native side: signed fields and device fields. */
function toNativePurchase({ transaction: { id, receipt, signature } }: PlayBody): object {
  const signedFields: { productId: string; quantity: number } = JSON.parse(receipt);
  const deviceFields = { orderId: id, getPurchaseState: 1, developerPayload: '' };
  return { ...signedFields, productIds: [signedFields.productId], ...deviceFields, receipt, signature };
}
