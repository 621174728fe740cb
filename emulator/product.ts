import * as v from 'valibot';
import { Period } from './calendar.ts';
import { controlError } from './control-error.ts';
import { ProductType, type PurchaseOrder } from './purchase-order.ts';

/** Product that a store sells. */
export const Product = v.object({
  id: v.string(),
  type: ProductType,
  priceMicros: v.number(),
  currency: v.string(),
  /** Billing period of a subscription, or validity of a non-renewing subscription. */
  period: v.exactOptional(Period),
});
export type Product = Readonly<v.InferOutput<typeof Product>>;

/** Price of a product that is created without one: 4.99. */
export const defaultPriceMicros = 4_990_000;

/** Finds the product of an order. Throws 422 if the product exists with another type or period. */
export function findProduct<P extends Product>(
  products: ReadonlyMap<string, P>,
  { productId, type, period }: Pick<PurchaseOrder, 'productId' | 'type' | 'period'>,
): P | undefined {
  const product = products.get(productId);
  if (product === undefined) return undefined;
  if (product.type === type && (period === undefined || period === product.period)) return product;
  throw controlError(422, `${productId} exists already, as a ${[product.type, product.period].join(' ').trim()}.`);
}

/** Returns the product of a purchase. */
export function getProduct<P extends Product>(
  { products }: { readonly products: ReadonlyMap<string, P> },
  productId: string,
): P {
  const product = products.get(productId);
  if (product === undefined) throw new Error(`The product ${productId} is missing in the catalogue`);
  return product;
}

/** Returns the price of a `raise-price` action without a price: 20 % more, rounded to cents. */
export const computeRaisedPrice = (priceMicros: number): number => Math.round((priceMicros * 1.2) / 10_000) * 10_000;
