import * as v from 'valibot';
import { indexById } from '../index-by-id.ts';
import { Product } from '../product.ts';
import { RefundRequest } from '../refund-request.ts';
import { type Order, Purchase, VoidedOrder } from './records.ts';

/** Products, purchases and voided orders of the store. */
export interface StoreState {
  readonly products: Map<string, Product>;
  readonly purchases: Map<string, Purchase>;
  readonly voided: VoidedOrder[];
  /** Refund reviews by pending refund token, the oldest first. */
  readonly refundRequests: Map<string, RefundRequest>;
  /** The service account has the permission to view orders. */
  areOrdersReadable: boolean;
}

/** State in the state file. */
export const SavedState = v.object({
  products: v.array(Product),
  purchases: v.array(Purchase),
  voided: v.array(VoidedOrder),
  refundRequests: v.exactOptional(v.array(RefundRequest)),
  areOrdersReadable: v.exactOptional(v.boolean()),
});
type SavedState = v.InferOutput<typeof SavedState>;

/** Creates an empty state, or restores the state of an earlier run. */
export const createState = (saved?: SavedState): StoreState => ({
  products: indexById(saved?.products),
  purchases: indexById(saved?.purchases),
  voided: [...(saved?.voided ?? [])],
  refundRequests: indexById(saved?.refundRequests),
  areOrdersReadable: saved?.areOrdersReadable ?? true,
});

/** Converts the state for the state file. */
export const toSavedState = ({
  products,
  purchases,
  voided,
  refundRequests,
  areOrdersReadable,
}: StoreState): SavedState => ({
  products: [...products.values()],
  purchases: [...purchases.values()],
  voided: [...voided],
  refundRequests: [...refundRequests.values()],
  areOrdersReadable,
});

/** Finds an order with its purchase. */
export function findOrder({ purchases }: StoreState, id: string): { order: Order; purchase: Purchase } | undefined {
  for (const purchase of purchases.values()) {
    const order = purchase.orders.find((candidate) => candidate.id === id);
    if (order !== undefined) return { order, purchase };
  }
  return undefined;
}
