import { controlError } from '../control-error.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { type Account, getLatestTransaction, type Product } from './records.ts';
import { getProduct, listPurchases, type StoreState } from './store-state.ts';

const defaultPriceMicros = 4_990_000;
const firstGroup = 21_000_001;

/** What the order buys: a product that exists, or a new one of the order's terms. */
export function getOrCreateProduct(state: StoreState, order: PurchaseOrder, buyer: Account): Product {
  const known = state.products.get(order.productId);
  if (known === undefined) return addProduct(state, buildProduct(order, order.group ?? chooseGroup(state, buyer)));
  if (known.type !== order.type || (order.period !== undefined && order.period !== known.period)) {
    throw controlError(422, `${known.id} exists already, as a ${[known.type, known.period].join(' ').trim()}.`);
  }
  return known;
}

/** The product in the catalogue from now on. */
export function addProduct(state: StoreState, product: Product): Product {
  state.products.set(product.id, product);
  return product;
}

/** A product of the terms: monthly and 4.99 USD unless they say otherwise. */
export function buildProduct({ productId, type, ...terms }: Omit<PurchaseOrder, 'group'>, group: string): Product {
  const { priceMicros = defaultPriceMicros, currency = 'USD', period } = terms;
  const product = { id: productId, type, priceMicros, currency };
  if (type === 'paid subscription') return { ...product, period: period ?? 'P1M', group };
  return { ...product, ...(period !== undefined && { period }) };
}

/** The application's one group; for a customer who had a subscription of it before, a group of its own. */
function chooseGroup(state: StoreState, buyer: Account): string {
  const groups = new Set([...state.products.values()].map(({ group }) => group));
  const taken = listPurchases(state, buyer.id).map(
    (purchase) => getProduct(state, getLatestTransaction(purchase).productId).group,
  );
  if (!taken.includes(String(firstGroup))) return String(firstGroup);
  let group = firstGroup + 1;
  while (groups.has(String(group))) group += 1;
  return String(group);
}
