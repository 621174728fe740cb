import * as v from 'valibot';
import { addBillingPeriods, BillingPeriod } from '../../foundation/billing-period.ts';
import { type EpochMillis, hourMs } from '../../foundation/time.ts';
import type { TokenPurchases } from './known-purchases.ts';
import type { OneTimeProduct, OneTimePurchase } from './payloads.ts';
import type { PlayApi } from './play-api.ts';

type ProductItem = OneTimePurchase['productLineItem'][number];

/** Access to a rented item ends. */
export const isRental = ({ productOfferDetails }: ProductItem): boolean =>
  productOfferDetails?.rentOfferDetails !== undefined;

/**
 * Finds the ends of the rented items by product. The purchase does not report them: a rental starts with the payment
 * and has the duration of its purchase option. Leaves out an item whose purchase option is not readable.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.onetimeproducts#OneTimeProductRentPurchaseOption
 */
export async function findRentalEnds(
  { productLineItem, purchaseCompletionTime: paidAt }: OneTimePurchase,
  { purchaseIds, known }: TokenPurchases,
  play: PlayApi,
): Promise<ReadonlyMap<string, EpochMillis>> {
  const ends = new Map<string, EpochMillis>();
  for (const item of productLineItem) {
    if (!isRental(item) || paidAt === undefined) continue;
    const { productId, productOfferDetails } = item;
    const stored = known.get(purchaseIds.get(productId) ?? '')?.purchase;
    const storedEnd = stored?.expirationSource === undefined ? stored?.expirationDate : undefined;
    const product = storedEnd === undefined ? await play.tryFetchOneTimeProduct(productId) : undefined;
    const end = storedEnd ?? addRentalPeriod(paidAt, findRentalPeriod(product, productOfferDetails?.purchaseOptionId));
    if (end !== undefined) ends.set(productId, end);
  }
  return ends;
}

const findRentalPeriod = (product: OneTimeProduct | undefined, purchaseOptionId: string | undefined) =>
  product?.purchaseOptions.find((option) => option.purchaseOptionId === purchaseOptionId)?.rentOption?.rentalPeriod;

/** Adds an ISO 8601 duration of hours, days, weeks, months or years. Undefined for any other text. */
function addRentalPeriod(start: EpochMillis, period = ''): EpochMillis | undefined {
  const hours = /^PT(\d{1,5})H$/.exec(period)?.[1];
  if (hours !== undefined) return start + Number(hours) * hourMs;
  return v.is(BillingPeriod, period) ? addBillingPeriods(start, period) : undefined;
}
