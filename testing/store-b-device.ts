import { type CordovaPage, openCordovaPage } from './cordova-page.ts';
import { enforcePreflight } from './enforce-preflight.ts';

/** The body with which the emulator would have a purchase of the Play Store validated. */
export interface PlayBody {
  readonly id: string;
  readonly transaction: { readonly id: string; readonly receipt: string; readonly signature: string };
}

/** The subscription that the tests sell, as version 13 of the plugin gets it from the device. */
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

/** The same as version 11 of the plugin gets it. */
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

/** A page on a device whose Play Store knows one purchase. */
export interface PlayPage extends CordovaPage {
  /** What the plugin asked the Play Store to acknowledge, oldest first. */
  readonly acknowledgements: readonly (readonly unknown[])[];
  /** The exceptions that nothing in the page caught. */
  readonly crashes: readonly string[];
}

/** Opens a page whose native side has the purchase and sells `details`. */
export function openPlayPage(body: PlayBody, details: object): PlayPage {
  const acknowledgements: (readonly unknown[])[] = [];
  let tell = (_message: object): void => {};
  enforcePreflight();
  const page = openCordovaPage('android', (method, args) => {
    if (method === 'getAvailableProducts') return [details];
    if (method === 'getStorefront') return 'US';
    // The purchases come by the listener; the answer only says that they were asked for.
    if (method === 'getPurchases') tell({ type: 'setPurchases', data: { purchases: [nativePurchase(body)] } });
    if (method === 'acknowledgePurchase') acknowledgements.push(args);
    return 'OK';
  });
  const crashes: string[] = [];
  page.window.addEventListener('error', ({ message }: { message: string }) => crashes.push(message));
  const { cordova } = page.window;
  const exec: Exec = cordova.exec;
  cordova.exec = ((success, error, service, method, args) => {
    if (method === 'setListener') tell = success;
    else exec(success, error, service, method, args);
  }) satisfies Exec;
  return { ...page, acknowledgements, crashes };
}

type Exec = (success: Listener, error: Listener, service: string, method: string, args: readonly unknown[]) => void;
type Listener = (message: unknown) => void;

/** A purchase as the plugin's native side writes it: what the Play Store signed, and what it knows beside that. */
function nativePurchase({ transaction: { id, receipt, signature } }: PlayBody): object {
  const signed: { productId: string; quantity: number } = JSON.parse(receipt);
  const beside = { productIds: [signed.productId], orderId: id, getPurchaseState: 1, developerPayload: '' };
  return { ...signed, ...beside, receipt, signature };
}
