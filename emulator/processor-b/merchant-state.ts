import { randomBytes } from 'node:crypto';
import type { StoreNotification } from '../emulated-store.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import type { Payment, PaymentMethod, PendingOrder, SavedState, Subscription } from './records.ts';

/** The merchant's books at the gateway. */
export interface MerchantState {
  readonly merchantId: string;
  readonly publicKey: string;
  readonly privateKey: string;
  /** By product; a plan has the name of its product. */
  readonly products: Map<string, PurchaseOrder>;
  readonly customers: Set<string>;
  readonly methods: Map<string, PaymentMethod>;
  readonly payments: Map<string, Payment>;
  readonly subscriptions: Map<string, Subscription>;
  /** By nonce. */
  readonly pendingOrders: Map<string, PendingOrder>;
  readonly usedNonces: Set<string>;
}

/** What the books are made from at each call. */
export interface ResponseContext {
  readonly books: MerchantState;
  readonly now: () => number;
  readonly tell: (message: StoreNotification) => void;
}

const defaultProducts: readonly PurchaseOrder[] = [
  { productId: 'tip_jar', type: 'consumable', priceMicros: 4_990_000, currency: 'USD' },
  { productId: 'full_version', type: 'non consumable', priceMicros: 19_990_000, currency: 'USD' },
  { productId: 'coins', type: 'consumable', priceMicros: 990_000, currency: 'USD' },
  { productId: 'monthly', type: 'paid subscription', priceMicros: 9_990_000, currency: 'USD', period: 'P1M' },
  { productId: 'basic', type: 'paid subscription', priceMicros: 4_990_000, currency: 'USD', period: 'P1M' },
  { productId: 'premium', type: 'paid subscription', priceMicros: 4_990_000, currency: 'USD', period: 'P1M' },
];

/** The books as they were saved, or those of a new merchant. */
export function createState(saved?: SavedState): MerchantState {
  return {
    merchantId: saved?.merchantId ?? generateId(16),
    publicKey: saved?.publicKey ?? generateId(16),
    privateKey: saved?.privateKey ?? generateId(32),
    products: new Map(saved?.products ?? defaultProducts.map((order) => [order.productId, order])),
    customers: new Set(saved?.customers),
    methods: new Map(saved?.methods),
    payments: new Map(saved?.payments),
    subscriptions: new Map(saved?.subscriptions),
    pendingOrders: new Map(saved?.wishes),
    usedNonces: new Set(saved?.usedNonces),
  };
}

/** The books as JSON. */
export const toSavedState = ({ merchantId, publicKey, privateKey, ...books }: MerchantState): SavedState => ({
  merchantId,
  publicKey,
  privateKey,
  products: [...books.products],
  customers: [...books.customers],
  methods: [...books.methods],
  payments: [...books.payments],
  subscriptions: [...books.subscriptions],
  wishes: [...books.pendingOrders],
  usedNonces: [...books.usedNonces],
});

const letters = 'bcdfghjkmnpqrstvwxyz23456789';

/** A random id of the gateway's kind. */
export const generateId = (length: number): string =>
  [...randomBytes(length)].map((byte) => letters[byte % letters.length]).join('');

/** Micros as the gateway writes amounts. */
export const formatAmount = ({ priceMicros = 4_990_000 }: Pick<PurchaseOrder, 'priceMicros'>): string =>
  (priceMicros / 1_000_000).toFixed(2);
