import * as v from 'valibot';
import { lenient, type OneTimePurchase, Text } from './payloads.ts';

const OptionalNumber = lenient(v.number());

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.products */
export const LegacyProduct = v.looseObject({
  purchaseState: v.optional(v.nullish(v.number())),
  consumptionState: OptionalNumber,
  acknowledgementState: OptionalNumber,
  purchaseType: OptionalNumber,
  purchaseTimeMillis: Text,
  orderId: Text,
  quantity: OptionalNumber,
  obfuscatedExternalAccountId: Text,
  obfuscatedExternalProfileId: Text,
});
type LegacyProduct = v.InferOutput<typeof LegacyProduct>;

const purchaseStates = ['PURCHASED', 'CANCELLED', 'PENDING'];

/** `purchaseType` of a purchase with a license tester's account. */
const testPurchaseType = 0;

/** Converts a response of purchases.products to the format of purchases.productsv2. */
export function fromLegacyProduct(product: LegacyProduct, productId: string): OneTimePurchase {
  const { purchaseState, consumptionState, acknowledgementState, purchaseType, purchaseTimeMillis, quantity, ...rest } =
    product;
  return {
    ...rest,
    productLineItem: [
      {
        productId,
        productOfferDetails: {
          ...(quantity !== undefined && { quantity }),
          consumptionState:
            consumptionState === 1 ? 'CONSUMPTION_STATE_CONSUMED' : 'CONSUMPTION_STATE_YET_TO_BE_CONSUMED',
        },
      },
    ],
    purchaseStateContext: { purchaseState: purchaseStates[purchaseState ?? 0] ?? 'PURCHASED' },
    ...(purchaseType === testPurchaseType && { testPurchaseContext: { fopType: 'TEST' } }),
    ...(purchaseTimeMillis !== undefined && { purchaseCompletionTime: Number(purchaseTimeMillis) }),
    acknowledgementState:
      acknowledgementState === 1 ? 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED' : 'ACKNOWLEDGEMENT_STATE_PENDING',
  };
}
