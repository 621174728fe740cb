import * as v from 'valibot';
import { type Order, Product, Purchase, VoidedOrder } from './records.ts';

/** All that the store knows of its customers. */
export interface StoreState {
  readonly products: Map<string, Product>;
  readonly purchases: Map<string, Purchase>;
  readonly voided: VoidedOrder[];
}

/** The state as they are kept over a restart. */
export const SavedState = v.object({
  products: v.array(Product),
  purchases: v.array(Purchase),
  voided: v.array(VoidedOrder),
});
type SavedState = v.InferOutput<typeof SavedState>;

const byId = <T extends { readonly id: string }>(records: readonly T[] = []): Map<string, T> =>
  new Map(records.map((record) => [record.id, record]));

/** Empty state, or those of an earlier run. */
export const createState = (saved?: SavedState): StoreState => ({
  products: byId(saved?.products),
  purchases: byId(saved?.purchases),
  voided: [...(saved?.voided ?? [])],
});

/** The state as `openBooks` takes them again. */
export const toSavedState = ({ products, purchases, voided }: StoreState): SavedState => ({
  products: [...products.values()],
  purchases: [...purchases.values()],
  voided,
});

/** The product with this id, which must be in the catalogue. */
export function getProduct({ products }: StoreState, id: string): Product {
  const product = products.get(id);
  if (product === undefined) throw new Error(`The product ${id} is in no catalogue`);
  return product;
}

/** The order with this id and the purchase that it belongs to. */
export function findOrder({ purchases }: StoreState, id: string): { order: Order; purchase: Purchase } | undefined {
  for (const purchase of purchases.values()) {
    const order = purchase.orders.find((one) => one.id === id);
    if (order !== undefined) return { order, purchase };
  }
  return undefined;
}
