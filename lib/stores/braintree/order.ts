import { ServiceError } from '../../foundation/errors.ts';
import { toShortDigest } from '../../foundation/key.ts';
import type { ValidationRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { resolveCart } from './cart.ts';
import { parseEvidence } from './evidence.ts';
import { getSmallestUnit, toDecimalAmount, toMicros } from './money.ts';
import { type BraintreeSettings, type CatalogueProduct, parseStoredSettings } from './settings.ts';

/** A request to charge one nonce. */
export interface Order {
  /** Idempotency key, derived from the app and the nonce. Identifies the payment at Braintree. */
  readonly key: string;
  readonly nonce: string;
  readonly productId: string;
  readonly deviceData?: string;
}

/** An order whose amount the catalogue allows. */
export interface PricedOrder extends Order {
  readonly product: CatalogueProduct;
  /** Decimal amount in units of the currency. */
  readonly amount: string;
}

/** Parses the order of a request. Throws `InvalidPayload` if the nonce is missing. */
export function parseOrder(request: ValidationRequest, { appName }: Pick<StoreContext, 'appName'>): Order {
  const { paymentMethodNonce: nonce, deviceData } = parseEvidence(request.transaction);
  return {
    // 32 characters: Braintree's ids have at most 36 and allow few characters.
    key: toShortDigest(JSON.stringify([appName, 'nonce', nonce])),
    nonce,
    productId: request.id,
    ...(deviceData !== undefined && deviceData !== null && { deviceData: toText(deviceData) }),
  };
}

/** Determines the amount of a new order. Throws `InvalidPayload` if the request does not match the catalogue. */
export function priceOrder(
  order: Order,
  request: ValidationRequest,
  { settings }: Pick<StoreContext, 'settings'>,
): PricedOrder {
  const { catalogue } = parseStoredSettings(settings);
  const product = findCatalogueProduct(request, catalogue);
  return { ...order, product, amount: computeAmount(request, product, catalogue) };
}

// Spec: not shown. The catalogue's type applies, because existing clients send `consumable` for every product.
function findCatalogueProduct({ id }: ValidationRequest, catalogue: BraintreeSettings['catalogue']): CatalogueProduct {
  const product = Object.hasOwn(catalogue, id) ? catalogue[id] : undefined;
  if (!product) throw new ServiceError('InvalidPayload', 'id is not found in the catalogue.');
  return product;
}

/** Returns the amount to charge. Throws `InvalidPayload` if the catalogue does not allow the amount of the request. */
function computeAmount(
  { id: productId, priceMicros, currency }: ValidationRequest,
  product: CatalogueProduct,
  catalogue: BraintreeSettings['catalogue'],
): string {
  const hasCurrency = currency === undefined || currency === product.currency;
  if (
    hasCurrency &&
    product.amount !== 'any' &&
    (priceMicros ?? toMicros(product.amount)) === toMicros(product.amount)
  ) {
    return product.amount;
  }
  if (hasCurrency && priceMicros !== undefined && allowsAmount(product, priceMicros, { productId, catalogue })) {
    return toDecimalAmount(priceMicros, product.currency);
  }
  throw new ServiceError(
    'InvalidPayload',
    'priceMicros and currency must match the catalogue. The payment method was not charged.',
  );
}

/** The catalogue allows an amount other than the price of the product: the buyer's choice, or the total of a cart. */
const allowsAmount = (
  product: CatalogueProduct,
  micros: number,
  { productId, catalogue }: { readonly productId: string; readonly catalogue: BraintreeSettings['catalogue'] },
): boolean =>
  micros % getSmallestUnit(product.currency) === 0 &&
  (product.amount === 'any'
    ? micros >= toMicros(product.minimum ?? '') && micros <= toMicros(product.maximum ?? '')
    : resolveCart(micros, productId, catalogue) !== undefined);

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
