import type { Period } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import type { Product } from './records.ts';
import type { StoreState } from './store-state.ts';

const usualPriceMicros = 4_990_000;

/** The terms under which a product is made: monthly and 4.99 USD unless they say otherwise. */
export type ProductTerms = Pick<PurchaseOrder, 'productId' | 'type' | 'period' | 'priceMicros' | 'currency'>;

/** What the terms are about: a product that exists, or a new one. */
export function getOrCreateProduct({ products }: StoreState, terms: ProductTerms): Product {
  const { productId: id, type, priceMicros = usualPriceMicros, currency = 'USD', period = 'P1M' } = terms;
  const known = products.get(id);
  if (known !== undefined) {
    if (known.type === type && (terms.period === undefined || terms.period === known.period)) return known;
    throw controlError(422, `${id} exists already, as a ${[known.type, known.period].join(' ').trim()}.`);
  }
  const product: Product = { id, type, priceMicros, currency, ...(type === 'paid subscription' && { period }) };
  products.set(id, product);
  return product;
}

/** How long a period of the product lasts. */
export const getPeriod = ({ period = 'P1M' }: Product): Period => period;

/** The base plan of a subscription with that period. */
export const toBasePlanId = (period: Period): string => period.toLowerCase();
