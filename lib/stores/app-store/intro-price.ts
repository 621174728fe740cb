import type { ValidationRequest } from '../store.ts';
import type { StoreTransaction } from './store-transaction.ts';

/**
 * Lists the products whose introductory price the store account has used, by their ids without prefix. One introductory
 * offer counts for all products of the subscription group: those that were bought, and those in the request.
 * @see https://developer.apple.com/documentation/appstoreserverapi/offertype
 */
export function listIneligibleForIntroPrice(
  transactions: readonly StoreTransaction[],
  products: ValidationRequest['products'] = [],
): string[] {
  const withIntroOffer = transactions.filter(({ usedIntroOffer }) => usedIntroOffer);
  const groupIds = new Set(withIntroOffer.flatMap(({ subscriptionGroupId }) => subscriptionGroupId ?? []));
  const ineligible = transactions.filter(
    ({ usedIntroOffer, subscriptionGroupId }) =>
      usedIntroOffer || (subscriptionGroupId !== undefined && groupIds.has(subscriptionGroupId)),
  );
  const requested = products.filter(({ group }) => group !== undefined && groupIds.has(group));
  return [...new Set([...ineligible.map(({ productId }) => productId), ...requested.map(({ id }) => id)])];
}
