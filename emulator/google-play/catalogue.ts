import { addPeriod, dayMs, type Period } from '../calendar.ts';
import { defaultPriceMicros, findProduct, getProduct, type Product } from '../product.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import type { Purchase } from './records.ts';
import type { StoreState } from './store-state.ts';

/** Terms of a new product. */
type ProductTerms = Pick<PurchaseOrder, 'productId' | 'type' | 'period' | 'priceMicros' | 'currency'>;

/** Finds a product or creates it. Defaults: 4.99 USD, monthly. Throws 422 if it exists with other terms. */
export function getOrCreateProduct({ products }: StoreState, terms: ProductTerms): Product {
  const existing = findProduct(products, terms);
  if (existing !== undefined) return existing;
  const { productId: id, type, priceMicros = defaultPriceMicros, currency = 'USD', period = 'P1M' } = terms;
  const product: Product = { id, type, priceMicros, currency, ...(type === 'paid subscription' && { period }) };
  products.set(id, product);
  return product;
}

/** Returns the product of a purchase with the period of the purchased base plan. */
export function getPurchasedPlan(state: StoreState, { productId, subscription }: Purchase): Product {
  const product = getProduct(state, productId);
  return subscription?.period === undefined ? product : { ...product, period: subscription.period };
}

/** Returns the billing period of a product. */
export const getPeriod = ({ period = 'P1M' }: Product): Period => period;

/** Returns the base plan id of a subscription with this period. */
export const toBasePlanId = (period: Period): string => period.toLowerCase();

/** Returns the length of the grace period in days. */
export const getGraceDays = (period: Period): number => (addPeriod(0, period) >= 28 * dayMs ? 7 : 3);
