import { defaultPriceMicros, findProduct, getProduct } from '../product.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { type Account, getLatestTransaction, type Product } from './records.ts';
import { listPurchases, type StoreState } from './store-state.ts';

const firstGroup = 21_000_001;

/** Finds the product of an order or creates it. Throws 422 if it exists with other terms. */
export function getOrCreateProduct(state: StoreState, order: PurchaseOrder, buyer: Account): Product {
  const existing = findProduct(state.products, order);
  return existing ?? addProduct(state, buildProduct(order, order.group ?? chooseGroup(state, buyer)));
}

/** Adds a product to the catalogue. */
export function addProduct(state: StoreState, product: Product): Product {
  state.products.set(product.id, product);
  return product;
}

/** Builds a product. Defaults: 4.99 USD, monthly for subscriptions. */
export function buildProduct({ productId, type, ...terms }: Omit<PurchaseOrder, 'group'>, group: string): Product {
  const { priceMicros = defaultPriceMicros, currency = 'USD', period } = terms;
  const product = { id: productId, type, priceMicros, currency };
  if (type === 'paid subscription') return { ...product, period: period ?? 'P1M', group };
  return { ...product, ...(period !== undefined && { period }) };
}

/** Returns the app's default group, or a new group if the customer had a subscription of the default group. */
function chooseGroup(state: StoreState, buyer: Account): string {
  const groups = new Set([...state.products.values()].map(({ group }) => group));
  const usedGroups = listPurchases(state, buyer.id).map(
    (purchase) => getProduct(state, getLatestTransaction(purchase).productId).group,
  );
  if (!usedGroups.includes(String(firstGroup))) return String(firstGroup);
  let group = firstGroup + 1;
  while (groups.has(String(group))) group += 1;
  return String(group);
}
