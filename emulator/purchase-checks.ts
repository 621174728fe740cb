import { controlError } from './control-error.ts';

/** Returns the purchase with this id. Throws 404 if the store does not have it. */
export function getPurchase<P>({ purchases }: { readonly purchases: ReadonlyMap<string, P> }, purchaseId: string): P {
  const purchase = purchases.get(purchaseId);
  if (purchase === undefined) throw controlError(404, `There is no purchase ${purchaseId}.`);
  return purchase;
}

/** Returns the subscription of a purchase. Throws 422 for a one-time purchase. */
export function requireSubscription<S>({ id, subscription }: { readonly id: string; readonly subscription?: S }): S {
  if (subscription === undefined) throw controlError(422, `${id} is not a subscription.`);
  return subscription;
}

/** Throws 422 if the store does not allow the action in the current state of the purchase. */
export function requirePossible(
  isPossible: boolean,
  { id }: { readonly id: string },
  problem: string,
): asserts isPossible {
  if (!isPossible) throw controlError(422, `${id} ${problem}.`);
}
