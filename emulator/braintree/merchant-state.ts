import { randomBytes, randomInt } from 'node:crypto';
import { type AccountSettingsHolder, createAccountSettings } from '../account-settings.ts';
import type { StoreNotification } from '../emulated-store.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import type { Payment, PaymentMethod, PendingOrder, SavedState, Subscription } from './records.ts';

/** Credentials and stored objects of a merchant. */
export interface MerchantState {
  readonly merchantId: string;
  readonly publicKey: string;
  readonly privateKey: string;
  /** Products by id. The plan of a subscription product has the same id. */
  readonly products: Map<string, PurchaseOrder>;
  readonly customers: Set<string>;
  readonly methods: Map<string, PaymentMethod>;
  readonly payments: Map<string, Payment>;
  readonly subscriptions: Map<string, Subscription>;
  /** Orders by nonce. */
  readonly pendingOrders: Map<string, PendingOrder>;
  readonly usedNonces: Set<string>;
  readonly settings: AccountSettingsHolder;
}

/** State, clock and webhook output of a request. */
export interface ResponseContext {
  readonly state: MerchantState;
  readonly now: () => number;
  readonly emitNotification: (message: StoreNotification) => void;
}

const defaultProducts: readonly PurchaseOrder[] = [
  { productId: 'tip_jar', type: 'consumable', priceMicros: 4_990_000, currency: 'USD' },
  { productId: 'full_version', type: 'non consumable', priceMicros: 19_990_000, currency: 'USD' },
  { productId: 'coins', type: 'consumable', priceMicros: 990_000, currency: 'USD' },
  { productId: 'donation', type: 'consumable', amountMicros: 10_000_000, currency: 'USD' },
  { productId: 'monthly', type: 'paid subscription', priceMicros: 9_990_000, currency: 'USD', period: 'P1M' },
  { productId: 'basic', type: 'paid subscription', priceMicros: 4_990_000, currency: 'USD', period: 'P1M' },
  { productId: 'premium', type: 'paid subscription', priceMicros: 4_990_000, currency: 'USD', period: 'P1M' },
];

/** Restores a saved state, or creates the state of a new merchant. */
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
    pendingOrders: new Map(saved?.pendingOrders),
    usedNonces: new Set(saved?.usedNonces),
    settings: createAccountSettings(['listLength'], saved?.settings),
  };
}

/** Converts the state to JSON. */
export const toSavedState = ({ merchantId, publicKey, privateKey, ...state }: MerchantState): SavedState => ({
  merchantId,
  publicKey,
  privateKey,
  products: [...state.products],
  customers: [...state.customers],
  methods: [...state.methods],
  payments: [...state.payments],
  subscriptions: [...state.subscriptions],
  pendingOrders: [...state.pendingOrders],
  usedNonces: [...state.usedNonces],
  settings: state.settings.current(),
});

const letters = 'bcdfghjkmnpqrstvwxyz23456789';

/** Generates an id in the format of Braintree. */
export const generateId = (length: number): string =>
  [...randomBytes(length)].map((byte) => letters[byte % letters.length]).join('');

/** Generates a customer id in the format of Braintree: a number. */
export const generateCustomerId = (): string => String(randomInt(10_000_000_000, 99_999_999_999));

/** Parses a decimal amount of Braintree to micros. */
export const toMicros = (amount: string): number => Math.round(Number(amount) * 1_000_000);

/**
 * Returns the tax that an amount contains.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/request/transaction/sale/node#tax_amount
 */
export const buildTaxAmount = (amount: string, taxRate: number | undefined): Pick<Payment, 'taxAmount'> =>
  taxRate === undefined ? {} : { taxAmount: ((Number(amount) * taxRate) / (100 + taxRate)).toFixed(2) };

/** Formats micros as Braintree's decimal amount. */
export const formatAmount = ({ priceMicros = 4_990_000 }: Pick<PurchaseOrder, 'priceMicros'>): string =>
  (priceMicros / 1_000_000).toFixed(2);
