import * as v from 'valibot';
import { type PlacedOrder, Product, Purchase, Voided } from './records.ts';

/** All that the store knows of its customers. */
export interface Books {
  readonly products: Map<string, Product>;
  readonly purchases: Map<string, Purchase>;
  readonly voided: Voided[];
}

/** The books as they are kept over a restart. */
export const SavedBooks = v.object({
  products: v.array(Product),
  purchases: v.array(Purchase),
  voided: v.array(Voided),
});
type SavedBooks = v.InferOutput<typeof SavedBooks>;

const byId = <T extends { readonly id: string }>(records: readonly T[] = []): Map<string, T> =>
  new Map(records.map((record) => [record.id, record]));

/** Empty books, or those of an earlier run. */
export const openBooks = (saved?: SavedBooks): Books => ({
  products: byId(saved?.products),
  purchases: byId(saved?.purchases),
  voided: [...(saved?.voided ?? [])],
});

/** The books as `openBooks` takes them again. */
export const savedBooks = ({ products, purchases, voided }: Books): SavedBooks => ({
  products: [...products.values()],
  purchases: [...purchases.values()],
  voided,
});

/** The product with this id, which must be in the catalogue. */
export function productNamed({ products }: Books, id: string): Product {
  const product = products.get(id);
  if (product === undefined) throw new Error(`The product ${id} is in no catalogue`);
  return product;
}

/** The order with this id and the purchase that it belongs to. */
export function orderNamed({ purchases }: Books, id: string): { order: PlacedOrder; purchase: Purchase } | undefined {
  for (const purchase of purchases.values()) {
    const order = purchase.orders.find((one) => one.id === id);
    if (order !== undefined) return { order, purchase };
  }
  return undefined;
}
