import { type CordovaPage, openCordovaPage } from './cordova-page.ts';
import { enforcePreflight } from './enforce-preflight.ts';
import { premiumProduct } from './store-a-device.ts';

/** The body with which the emulator would have a signed transaction validated. */
export interface SignedBody {
  /** The bundle id. */
  readonly id: string;
  readonly transaction: { readonly jwsRepresentation: string };
}

interface SignedTransaction {
  readonly transactionId: string;
  readonly originalTransactionId: string;
  readonly productId: string;
  readonly purchaseDate: number;
  readonly expiresDate?: number;
  readonly quantity: number;
}

/** Opens a page on a device with StoreKit 2 that hands over these transactions, the oldest first, as not finished. */
export function openStoreKit2Page(bodies: readonly SignedBody[]): CordovaPage {
  const products = bodies.map((body) => ({ ...premiumProduct, id: signedIn(body).productId }));
  enforcePreflight();
  const page = openCordovaPage('ios', (method) => {
    if (method === 'load') return [products, []];
    // With StoreKit 2 there is no receipt of the application.
    if (/^appStore(Refresh)?Receipt$/.test(method)) return ['', bodies[0]?.id, '1.0', '1', '????'];
    if (method === 'getStorefront') return 'USA';
    if (method === 'processPendingTransactions') for (const body of bodies) handOver(page, body);
    return undefined;
  });
  page.window.CdvPurchaseStoreKit2 = { installed: true };
  return page;
}

function handOver({ window }: CordovaPage, body: SignedBody): void {
  const { transactionId, productId, originalTransactionId, ...signed } = signedIn(body);
  window.storekit2.transactionUpdated(
    'PaymentTransactionStatePurchased',
    0,
    '',
    transactionId,
    productId,
    '',
    originalTransactionId,
    String(signed.purchaseDate),
    '',
    String(signed.expiresDate ?? ''),
    body.transaction.jwsRepresentation,
    signed.quantity,
  );
}

/** What StoreKit reads out of a signed transaction. */
function signedIn({ transaction: { jwsRepresentation } }: SignedBody): SignedTransaction {
  const [, payload = ''] = jwsRepresentation.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
}
