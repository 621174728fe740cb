import * as v from 'valibot';

const Text = v.exactOptional(v.string());
const OptionalBoolean = v.exactOptional(v.boolean());
const Time = v.pipe(
  v.string(),
  v.transform((text) => Date.parse(text)),
  v.number(),
  v.check((date) => Number.isFinite(date)),
);
const OptionalObject = v.exactOptional(v.looseObject({}));

/** An amount: whole units as text, the fraction in nanos. */
export const Money = v.object({ currencyCode: v.string(), units: Text, nanos: v.exactOptional(v.number()) });
export type Money = v.InferOutput<typeof Money>;

const LineItem = v.looseObject({
  productId: v.string(),
  expiryTime: v.exactOptional(Time),
  latestSuccessfulOrderId: Text,
  autoRenewingPlan: v.exactOptional(
    v.looseObject({
      autoRenewEnabled: OptionalBoolean,
      recurringPrice: v.exactOptional(Money),
      priceChangeDetails: v.exactOptional(v.looseObject({ priceChangeMode: Text, priceChangeState: Text })),
      priceStepUpConsentDetails: v.exactOptional(v.looseObject({ state: Text })),
      installmentDetails: v.exactOptional(v.looseObject({ pendingCancellation: OptionalObject })),
    }),
  ),
  prepaidPlan: OptionalObject,
  deferredItemReplacement: v.exactOptional(v.looseObject({ productId: Text })),
  offerDetails: v.exactOptional(v.looseObject({ basePlanId: Text, offerId: Text })),
  offerPhase: v.exactOptional(
    v.looseObject({ freeTrial: OptionalObject, introductoryPrice: OptionalObject, prorationPeriod: OptionalObject }),
  ),
  signupPromotion: v.exactOptional(
    v.looseObject({ vanityCode: v.exactOptional(v.looseObject({ promotionCode: Text })) }),
  ),
});
export type LineItem = v.InferOutput<typeof LineItem>;

const AccountIds = v.exactOptional(
  v.looseObject({ obfuscatedExternalAccountId: Text, obfuscatedExternalProfileId: Text }),
);

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2 */
export const Subscription = v.looseObject({
  startTime: v.exactOptional(Time),
  subscriptionState: v.string(),
  latestOrderId: Text,
  linkedPurchaseToken: Text,
  acknowledgementState: Text,
  testPurchase: OptionalObject,
  externalAccountIdentifiers: AccountIds,
  outOfAppPurchaseContext: v.exactOptional(
    v.looseObject({ expiredExternalAccountIdentifiers: AccountIds, expiredPurchaseToken: Text }),
  ),
  pausedStateContext: v.exactOptional(v.looseObject({ autoResumeTime: v.exactOptional(Time) })),
  canceledStateContext: v.exactOptional(
    v.looseObject({
      userInitiatedCancellation: v.exactOptional(
        v.looseObject({
          cancelTime: v.exactOptional(Time),
          cancelSurveyResult: v.exactOptional(v.looseObject({ reason: Text })),
        }),
      ),
      systemInitiatedCancellation: OptionalObject,
      developerInitiatedCancellation: OptionalObject,
      replacementCancellation: OptionalObject,
    }),
  ),
  lineItems: v.optional(v.array(LineItem), []),
});
export type Subscription = v.InferOutput<typeof Subscription>;

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.productsv2 */
export const OneTimePurchase = v.looseObject({
  productLineItem: v.pipe(
    v.array(
      v.looseObject({
        productId: v.string(),
        productOfferDetails: v.exactOptional(
          v.looseObject({
            offerId: Text,
            purchaseOptionId: Text,
            quantity: v.exactOptional(v.number()),
            consumptionState: Text,
          }),
        ),
      }),
    ),
    v.minLength(1),
  ),
  purchaseStateContext: v.exactOptional(v.looseObject({ purchaseState: Text })),
  testPurchaseContext: v.exactOptional(v.looseObject({ fopType: Text })),
  orderId: Text,
  obfuscatedExternalAccountId: Text,
  obfuscatedExternalProfileId: Text,
  purchaseCompletionTime: v.exactOptional(Time),
  acknowledgementState: Text,
});
export type OneTimePurchase = v.InferOutput<typeof OneTimePurchase>;

const OrderItem = v.looseObject({
  productId: Text,
  total: v.exactOptional(Money),
  subscriptionDetails: v.exactOptional(
    v.looseObject({
      basePlanId: Text,
      offerId: Text,
      offerPhaseDetails: v.exactOptional(
        v.looseObject({ freeTrialDetails: OptionalObject, introductoryPriceDetails: OptionalObject }),
      ),
      servicePeriodStartTime: v.exactOptional(Time),
      servicePeriodEndTime: v.exactOptional(Time),
    }),
  ),
});
export type OrderItem = v.InferOutput<typeof OrderItem>;

const PartialRefundEvent = v.looseObject({
  createTime: v.exactOptional(Time),
  processTime: v.exactOptional(Time),
  state: Text,
  refundDetails: v.exactOptional(v.looseObject({ total: v.exactOptional(Money) })),
});

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders */
export const Order = v.looseObject({
  orderId: Text,
  total: v.exactOptional(Money),
  state: Text,
  createTime: v.exactOptional(Time),
  lastEventTime: v.exactOptional(Time),
  orderHistory: v.exactOptional(
    v.looseObject({
      partialRefundEvents: v.exactOptional(v.array(PartialRefundEvent)),
      refundEvent: v.exactOptional(v.looseObject({ eventTime: v.exactOptional(Time) })),
    }),
  ),
  lineItems: v.optional(v.array(OrderItem), []),
});
export type Order = v.InferOutput<typeof Order>;

/** Response of orders.batchGet. */
export const Orders = v.looseObject({ orders: v.optional(v.array(Order), []) });

const Int64 = v.pipe(v.string(), v.digits(), v.transform(Number));

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.voidedpurchases */
export const VoidedPurchases = v.object({
  voidedPurchases: v.optional(
    v.array(
      v.looseObject({
        purchaseToken: v.string(),
        orderId: v.string(),
        voidedTimeMillis: Int64,
        voidedReason: v.exactOptional(v.number()),
        voidedQuantity: v.exactOptional(v.number()),
      }),
    ),
    [],
  ),
  tokenPagination: v.exactOptional(v.looseObject({ nextPageToken: Text })),
});
export type VoidedPurchases = v.InferOutput<typeof VoidedPurchases>;
