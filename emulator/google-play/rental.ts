import type { androidpublisher_v3 } from '@googleapis/androidpublisher';
import { addPeriod, type Period } from '../calendar.ts';
import { apiError } from './api-error.ts';
import { packageName } from './keys.ts';
import type { Purchase } from './records.ts';
import type { StoreState } from './store-state.ts';

/** Returns the end of a rental, which starts with the payment. Undefined for a bought product. */
export const getRentalEnd = ({ rentalPeriod, purchasedAt }: Purchase): number | undefined =>
  rentalPeriod === undefined ? undefined : addPeriod(purchasedAt, rentalPeriod);

/** Returns the id of the purchase option. A rental period is its own purchase option. */
export const toPurchaseOptionId = (rentalPeriod: Period | undefined): string =>
  rentalPeriod === undefined ? 'buy' : `rent-${rentalPeriod.toLowerCase()}`;

/**
 * Converts a one-time product to the response of `monetization.onetimeproducts.get`.
 *
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.onetimeproducts/get
 */
export function toOneTimeProductView(
  { products, purchases }: StoreState,
  productId: string,
): androidpublisher_v3.Schema$OneTimeProduct {
  const product = products.get(productId);
  if (product === undefined || product.type === 'paid subscription')
    throw apiError(404, 'notFound', `The one-time product ${productId} was not found.`);
  const periods = [...purchases.values()]
    .filter((purchase) => purchase.productId === productId)
    .map(({ rentalPeriod }) => rentalPeriod);
  const purchaseOptions = [...new Set([undefined, ...periods])].map((rentalPeriod) => ({
    purchaseOptionId: toPurchaseOptionId(rentalPeriod),
    state: 'ACTIVE',
    ...(rentalPeriod === undefined ? { buyOption: {} } : { rentOption: { rentalPeriod } }),
  }));
  return { packageName, productId, purchaseOptions };
}
