import type { androidpublisher_v3 } from '@googleapis/androidpublisher';
import { toObfuscatedAccountId } from './accounts.ts';
import { toTimestamp } from './money.ts';
import { getLatestOrder } from './orders.ts';
import { getRemainingQuantity } from './partial-refund.ts';
import type { Purchase } from './records.ts';

const toAccountIds = ({ applicationUsername }: Purchase): { obfuscatedExternalAccountId?: string } =>
  applicationUsername === undefined ? {} : { obfuscatedExternalAccountId: toObfuscatedAccountId(applicationUsername) };

/** A one-time purchase as `purchases.productsv2.getproductpurchasev2` answers it. */
export function toProductView(purchase: Purchase): androidpublisher_v3.Schema$ProductPurchaseV2 {
  const { productId, isConsumed, isAcknowledged, isCancelled, sandbox, quantity, purchasedAt } = purchase;
  const productOfferDetails = {
    purchaseOptionId: 'buy',
    quantity,
    refundableQuantity: getRemainingQuantity(purchase),
    consumptionState: `CONSUMPTION_STATE_${isConsumed ? 'CONSUMED' : 'YET_TO_BE_CONSUMED'}`,
  };
  return {
    kind: 'androidpublisher#productPurchaseV2',
    productLineItem: [{ productId, productOfferDetails }],
    purchaseStateContext: { purchaseState: isCancelled ? 'CANCELLED' : 'PURCHASED' },
    ...(sandbox && { testPurchaseContext: { fopType: 'TEST' } }),
    orderId: getLatestOrder(purchase).id,
    ...toAccountIds(purchase),
    regionCode: 'US',
    purchaseCompletionTime: toTimestamp(purchasedAt),
    acknowledgementState: `ACKNOWLEDGEMENT_STATE_${isAcknowledged ? 'ACKNOWLEDGED' : 'PENDING'}`,
  };
}

/** A one-time purchase as the older `purchases.products.get` answers it. */
export function toLegacyProductView(purchase: Purchase): androidpublisher_v3.Schema$ProductPurchase {
  const { isConsumed, isAcknowledged, isCancelled, sandbox, quantity, purchasedAt } = purchase;
  return {
    kind: 'androidpublisher#productPurchase',
    purchaseTimeMillis: String(purchasedAt),
    purchaseState: isCancelled ? 1 : 0,
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
