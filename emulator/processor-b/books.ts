import { randomBytes } from 'node:crypto';
import type { StoreMessage } from '../emulated-store.ts';
import type { Order } from '../orders.ts';
import type { Method, Payment, SavedBooks, Subscription, Wish } from './records.ts';

/** The merchant's books at the gateway. */
export interface Books {
  readonly merchantId: string;
  readonly publicKey: string;
  readonly privateKey: string;
  /** By product; a plan has the name of its product. */
  readonly products: Map<string, Order>;
  readonly customers: Set<string>;
  readonly methods: Map<string, Method>;
  readonly payments: Map<string, Payment>;
  readonly subscriptions: Map<string, Subscription>;
  /** By nonce. */
  readonly wishes: Map<string, Wish>;
  readonly usedNonces: Set<string>;
}

/** What the books are made from at each call. */
export interface Source {
  readonly books: Books;
  readonly now: () => number;
  readonly tell: (message: StoreMessage) => void;
}

const known: readonly Order[] = [
  { productId: 'tip_jar', type: 'consumable', priceMicros: 4_990_000, currency: 'USD' },
  { productId: 'full_version', type: 'non consumable', priceMicros: 19_990_000, currency: 'USD' },
  { productId: 'coins', type: 'consumable', priceMicros: 990_000, currency: 'USD' },
  { productId: 'monthly', type: 'paid subscription', priceMicros: 9_990_000, currency: 'USD', period: 'P1M' },
  { productId: 'basic', type: 'paid subscription', priceMicros: 4_990_000, currency: 'USD', period: 'P1M' },
  { productId: 'premium', type: 'paid subscription', priceMicros: 4_990_000, currency: 'USD', period: 'P1M' },
];

/** The books as they were saved, or those of a new merchant. */
export function openBooks(saved?: SavedBooks): Books {
  return {
    merchantId: saved?.merchantId ?? token(16),
    publicKey: saved?.publicKey ?? token(16),
    privateKey: saved?.privateKey ?? token(32),
    products: new Map(saved?.products ?? known.map((order) => [order.productId, order])),
    customers: new Set(saved?.customers),
    methods: new Map(saved?.methods),
    payments: new Map(saved?.payments),
    subscriptions: new Map(saved?.subscriptions),
    wishes: new Map(saved?.wishes),
    usedNonces: new Set(saved?.usedNonces),
  };
}

/** The books as JSON. */
export const savedBooks = ({ merchantId, publicKey, privateKey, ...books }: Books): SavedBooks => ({
  merchantId,
  publicKey,
  privateKey,
  products: [...books.products],
  customers: [...books.customers],
  methods: [...books.methods],
  payments: [...books.payments],
  subscriptions: [...books.subscriptions],
  wishes: [...books.wishes],
  usedNonces: [...books.usedNonces],
});

const letters = 'bcdfghjkmnpqrstvwxyz23456789';

/** A random id of the gateway's kind. */
export const token = (length: number): string =>
  [...randomBytes(length)].map((byte) => letters[byte % letters.length]).join('');

/** Micros as the gateway writes amounts. */
export const amountOf = ({ priceMicros = 4_990_000 }: Pick<Order, 'priceMicros'>): string =>
  (priceMicros / 1_000_000).toFixed(2);
