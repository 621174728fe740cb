import { JSDOM, VirtualConsole } from 'jsdom';
import { premiumProduct } from './app-store-device.ts';
import { enforcePreflight } from './enforce-preflight.ts';
import { decodeTransaction, type SignedBody } from './storekit-2-device.ts';

/** The page of a Capacitor app on an iOS device whose StoreKit 2 delivers one transaction. */
export interface CapacitorPage {
  // biome-ignore lint/suspicious/noExplicitAny: the globals of the app are untyped.
  readonly window: any;
  /** Ids of the transactions that the app has finished. */
  readonly finishedIds: readonly string[];
  close(): void;
}

/** Opens a page with the native side of capacitor-plugin-cdv-purchase as `Capacitor.Plugins.PurchasePlugin`. */
export function openCapacitorPage(body: SignedBody): CapacitorPage {
  enforcePreflight();
  const { window } = new JSDOM('<!doctype html><body></body>', {
    url: 'capacitor://localhost/',
    runScripts: 'outside-only',
    virtualConsole: new VirtualConsole(),
  });
  const finishedIds: string[] = [];
  const listeners = new Map<string, (data: object) => void>();
  const { transactionId, productId, originalTransactionId, ...transaction } = decodeTransaction(body);
  const deliver = () =>
    listeners.get('transactionUpdated')?.({
      state: 'PaymentTransactionStatePurchased',
      transactionIdentifier: transactionId,
      productId,
      originalTransactionIdentifier: originalTransactionId,
      transactionDate: String(transaction.purchaseDate),
      expirationDate: String(transaction.expiresDate),
      quantity: transaction.quantity,
      jwsRepresentation: body.transaction.jwsRepresentation,
    });
  const PurchasePlugin = {
    addListener: (name: string, listener: (data: object) => void) => void listeners.set(name, listener),
    init: async () => void setTimeout(deliver, 10),
    load: async () => ({ validProducts: [{ ...premiumProduct, id: productId }], invalidProductIds: [] }),
    loadReceipts: async () => ({ receipt: { appStoreReceipt: '', bundleIdentifier: body.id, appVersion: '1.0' } }),
    refreshReceipts: async () => ({ receipt: { appStoreReceipt: '', bundleIdentifier: body.id, appVersion: '1.0' } }),
    canMakePayments: async () => ({ canMakePayments: true }),
    getStorefront: async () => ({ countryCode: 'USA' }),
    finish: async ({ transactionId: id }: { transactionId: string }) => void finishedIds.push(id),
  };
  // jsdom lacks a storage for the origin of an app, unlike its web view.
  const stored = new Map<string, string>();
  const localStorage = {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: unknown) => void stored.set(name, String(value)),
  };
  Object.defineProperty(window, 'localStorage', { value: localStorage });
  Object.assign(window, { Capacitor: { getPlatform: () => 'ios', Plugins: { PurchasePlugin } } });
  return { window, finishedIds, close: () => window.close() };
}
