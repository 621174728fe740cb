import { premiumProduct } from './app-store-device.ts';
import { type CordovaPage, openCordovaPage } from './cordova-page.ts';

/** Body for `POST /v1/validate` with a signed transaction. */
export interface SignedBody {
  /** Bundle id. */
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

/** Opens a page on a device with StoreKit 2 that delivers these transactions as unfinished, oldest first. */
export function openStoreKit2Page(bodies: readonly SignedBody[]): CordovaPage {
  const products = bodies.map((body) => ({ ...premiumProduct, id: decodeTransaction(body).productId }));
  const page = openCordovaPage('ios', (method) => {
    if (method === 'load') return [products, []];
    // With StoreKit 2 the app lacks a classic receipt.
    if (/^appStore(Refresh)?Receipt$/.test(method)) return ['', bodies[0]?.id, '1.0', '1', '????'];
    if (method === 'getStorefront') return 'USA';
    if (method === 'processPendingTransactions') for (const body of bodies) deliverTransaction(page, body);
    return undefined;
  });
  page.window.CdvPurchaseStoreKit2 = { installed: true };
  return page;
}

function deliverTransaction({ window }: CordovaPage, body: SignedBody): void {
  const { transactionId, productId, originalTransactionId, ...transaction } = decodeTransaction(body);
  window.storekit2.transactionUpdated(
    'PaymentTransactionStatePurchased',
    0,
    '',
    transactionId,
    productId,
    '',
    originalTransactionId,
    String(transaction.purchaseDate),
    '',
    String(transaction.expiresDate ?? ''),
    body.transaction.jwsRepresentation,
    transaction.quantity,
  );
}

/** Decodes the payload of a signed transaction without verification, like the app. */
export function decodeTransaction({ transaction: { jwsRepresentation } }: SignedBody): SignedTransaction {
  const [, payload = ''] = jwsRepresentation.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
}
