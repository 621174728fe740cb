import type { androidpublisher_v3 } from '@googleapis/androidpublisher';
import { obfuscatedAccountId } from './accounts.ts';
import { written } from './money.ts';
import { leftOf } from './partial-refund.ts';
import { latestOrder } from './placing.ts';
import type { Purchase } from './records.ts';

const accountOf = ({ applicationUsername }: Purchase): { obfuscatedExternalAccountId?: string } =>
  applicationUsername === undefined ? {} : { obfuscatedExternalAccountId: obfuscatedAccountId(applicationUsername) };

/** A one-time purchase as `purchases.productsv2.getproductpurchasev2` answers it. */
export function productView(purchase: Purchase): androidpublisher_v3.Schema$ProductPurchaseV2 {
  const { productId, isConsumed, isAcknowledged, isCancelled, sandbox, quantity, purchasedAt } = purchase;
  const productOfferDetails = {
    purchaseOptionId: 'buy',
    quantity,
    refundableQuantity: leftOf(purchase),
    consumptionState: `CONSUMPTION_STATE_${isConsumed ? 'CONSUMED' : 'YET_TO_BE_CONSUMED'}`,
  };
  return {
    kind: 'androidpublisher#productPurchaseV2',
    productLineItem: [{ productId, productOfferDetails }],
    purchaseStateContext: { purchaseState: isCancelled ? 'CANCELLED' : 'PURCHASED' },
    ...(sandbox && { testPurchaseContext: { fopType: 'TEST' } }),
    orderId: latestOrder(purchase).id,
    ...accountOf(purchase),
    regionCode: 'US',
    purchaseCompletionTime: written(purchasedAt),
    acknowledgementState: `ACKNOWLEDGEMENT_STATE_${isAcknowledged ? 'ACKNOWLEDGED' : 'PENDING'}`,
  };
}

/** A one-time purchase as the older `purchases.products.get` answers it. */
export function legacyProductView(purchase: Purchase): androidpublisher_v3.Schema$ProductPurchase {
  const { isConsumed, isAcknowledged, isCancelled, sandbox, quantity, purchasedAt } = purchase;
  return {
    kind: 'androidpublisher#productPurchase',
    purchaseTimeMillis: String(purchasedAt),
    purchaseState: isCancelled ? 1 : 0,
    consumptionState: isConsumed ? 1 : 0,
    developerPayload: '',
    orderId: latestOrder(purchase).id,
    ...(sandbox && { purchaseType: 0 }),
    acknowledgementState: isAcknowledged ? 1 : 0,
    ...(quantity > 1 && { quantity }),
    refundableQuantity: leftOf(purchase),
    ...accountOf(purchase),
    regionCode: 'US',
  };
}
