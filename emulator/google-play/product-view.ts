import type { androidpublisher_v3 } from '@googleapis/androidpublisher';
import { formatTime } from '../calendar.ts';
import { toObfuscatedAccountId } from './accounts.ts';
import { getLatestOrder } from './orders.ts';
import { getRemainingQuantity } from './partial-refund.ts';
import { isPending } from './pending-payment.ts';
import type { Purchase } from './records.ts';
import { toPurchaseOptionId } from './rental.ts';

const toAccountIds = ({ applicationUsername }: Purchase): { obfuscatedExternalAccountId?: string } =>
  applicationUsername === undefined ? {} : { obfuscatedExternalAccountId: toObfuscatedAccountId(applicationUsername) };

/** Numbers of the purchase states in `purchases.products.get`. */
const legacyStates = { PURCHASED: 0, CANCELLED: 1, PENDING: 2 } as const;

/** Returns the state of a one-time purchase, in the terms of `purchases.productsv2.getproductpurchasev2`. */
export const getPurchaseState = (purchase: Purchase): keyof typeof legacyStates =>
  purchase.isCancelled ? 'CANCELLED' : isPending(purchase) ? 'PENDING' : 'PURCHASED';

/**
 * Converts a one-time purchase to the response of `purchases.productsv2.getproductpurchasev2`.
 *
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.productsv2/getproductpurchasev2
 */
export function toProductView(purchase: Purchase): androidpublisher_v3.Schema$ProductPurchaseV2 {
  const { productId, isConsumed, isAcknowledged, sandbox, quantity, isUnpaid, purchasedAt, rentalPeriod, releaseAt } =
    purchase;
  const productOfferDetails = {
    purchaseOptionId: toPurchaseOptionId(rentalPeriod),
    ...(rentalPeriod !== undefined && { rentOfferDetails: {} }),
    ...(releaseAt !== undefined && { preorderOfferDetails: { preorderReleaseTime: formatTime(releaseAt) } }),
    quantity,
    refundableQuantity: getRemainingQuantity(purchase),
    consumptionState: `CONSUMPTION_STATE_${isConsumed ? 'CONSUMED' : 'YET_TO_BE_CONSUMED'}`,
  };
  return {
    kind: 'androidpublisher#productPurchaseV2',
    productLineItem: [{ productId, productOfferDetails }],
    purchaseStateContext: { purchaseState: getPurchaseState(purchase) },
    ...(sandbox && { testPurchaseContext: { fopType: 'TEST' } }),
    orderId: getLatestOrder(purchase).id,
    ...toAccountIds(purchase),
    regionCode: 'US',
    // Absent until the payment is complete.
    ...(!isUnpaid && { purchaseCompletionTime: formatTime(purchasedAt) }),
    acknowledgementState: `ACKNOWLEDGEMENT_STATE_${isAcknowledged ? 'ACKNOWLEDGED' : 'PENDING'}`,
  };
}

/**
 * Converts a one-time purchase to the response of the older `purchases.products.get`.
 *
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.products/get
 */
export function toLegacyProductView(purchase: Purchase): androidpublisher_v3.Schema$ProductPurchase {
  const { isConsumed, isAcknowledged, sandbox, quantity, purchasedAt } = purchase;
  return {
    kind: 'androidpublisher#productPurchase',
    purchaseTimeMillis: String(purchasedAt),
    purchaseState: legacyStates[getPurchaseState(purchase)],
    consumptionState: isConsumed ? 1 : 0,
    developerPayload: '',
    orderId: getLatestOrder(purchase).id,
    ...(sandbox && { purchaseType: 0 }),
    acknowledgementState: isAcknowledged ? 1 : 0,
    ...(quantity > 1 && { quantity }),
    refundableQuantity: getRemainingQuantity(purchase),
    ...toAccountIds(purchase),
    regionCode: 'US',
  };
}
