import * as v from 'valibot';

/**
 * A field on which access does not depend. A value that the schema does not know counts as absent: it must not make
 * Google Play unavailable.
 */
export const lenient = <S extends v.GenericSchema>(schema: S) => v.optional(v.fallback(v.optional(schema), undefined));

/** A field on which access depends: an explicit null counts as absent, any other unknown value as an outage. */
const strict = <S extends v.GenericSchema>(schema: S) =>
  v.optional(
    v.pipe(
      v.nullish(schema),
      v.transform((value) => value ?? undefined),
    ),
  );

/** Older responses have an empty text instead of an absent one. */
export const Text = lenient(v.pipe(v.string(), v.minLength(1)));
const Time = v.pipe(
  v.string(),
  v.transform((text) => Date.parse(text)),
  v.number(),
  v.check((date) => Number.isFinite(date)),
);
const OptionalTime = lenient(Time);
const OptionalObject = lenient(v.looseObject({}));

/** An amount: whole units as text, the fraction in nanos. */
export const Money = v.object({
  currencyCode: v.string(),
  units: v.optional(v.pipe(v.string(), v.regex(/^-?\d+$/))),
  nanos: v.optional(v.number()),
});
export type Money = v.InferOutput<typeof Money>;
const OptionalMoney = lenient(Money);

const LineItem = v.looseObject({
  productId: v.string(),
  expiryTime: strict(Time),
  latestSuccessfulOrderId: Text,
  autoRenewingPlan: lenient(
    v.looseObject({
      autoRenewEnabled: lenient(v.boolean()),
      recurringPrice: OptionalMoney,
      priceChangeDetails: lenient(
        v.looseObject({ priceChangeMode: Text, priceChangeState: Text, expectedNewPriceChargeTime: OptionalTime }),
      ),
      priceStepUpConsentDetails: lenient(v.looseObject({ state: Text, consentDeadlineTime: OptionalTime })),
      installmentDetails: lenient(v.looseObject({ pendingCancellation: OptionalObject })),
    }),
  ),
  prepaidPlan: OptionalObject,
  deferredItemReplacement: lenient(v.looseObject({ productId: Text })),
  deferredItemRemoval: OptionalObject,
  itemReplacement: lenient(v.looseObject({ productId: Text, replacementMode: Text })),
  offerDetails: lenient(v.looseObject({ basePlanId: Text, offerId: Text })),
  offerPhase: lenient(
    v.looseObject({ freeTrial: OptionalObject, introductoryPrice: OptionalObject, prorationPeriod: OptionalObject }),
  ),
  signupPromotion: lenient(v.looseObject({ vanityCode: lenient(v.looseObject({ promotionCode: Text })) })),
});
export type LineItem = v.InferOutput<typeof LineItem>;

const AccountIds = lenient(v.looseObject({ obfuscatedExternalAccountId: Text, obfuscatedExternalProfileId: Text }));

/** The order of a declined renewal. */
const DeclinedContext = lenient(v.looseObject({ renewalDeclined: lenient(v.looseObject({ pendingOrderId: Text })) }));

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2 */
export const Subscription = v.looseObject({
  startTime: OptionalTime,
  subscriptionState: v.string(),
  regionCode: Text,
  linkedPurchaseToken: Text,
  acknowledgementState: Text,
  testPurchase: OptionalObject,
  externalAccountIdentifiers: AccountIds,
  outOfAppPurchaseContext: lenient(
    v.looseObject({ expiredExternalAccountIdentifiers: AccountIds, expiredPurchaseToken: Text }),
  ),
  inGracePeriodStateContext: DeclinedContext,
  onHoldStateContext: DeclinedContext,
  pausedStateContext: lenient(v.looseObject({ autoResumeTime: OptionalTime })),
  canceledStateContext: lenient(
    v.looseObject({
      userInitiatedCancellation: lenient(
        v.looseObject({ cancelTime: OptionalTime, cancelSurveyResult: lenient(v.looseObject({ reason: Text })) }),
      ),
      systemInitiatedCancellation: OptionalObject,
      developerInitiatedCancellation: OptionalObject,
      replacementCancellation: OptionalObject,
    }),
  ),
  lineItems: v.optional(
    v.pipe(
      v.nullish(v.array(LineItem)),
      v.transform((items) => items ?? []),
    ),
    [],
  ),
});
export type Subscription = v.InferOutput<typeof Subscription>;

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.productsv2 */
export const OneTimePurchase = v.looseObject({
  productLineItem: v.pipe(
    v.array(
      v.looseObject({
        productId: v.string(),
        productOfferDetails: lenient(
          v.looseObject({
            offerId: Text,
            purchaseOptionId: Text,
            quantity: lenient(v.number()),
            consumptionState: Text,
            rentOfferDetails: OptionalObject,
          }),
        ),
      }),
    ),
    v.minLength(1),
  ),
  purchaseStateContext: strict(v.looseObject({ purchaseState: strict(v.string()) })),
  testPurchaseContext: lenient(v.looseObject({ fopType: Text })),
  orderId: Text,
  regionCode: Text,
  obfuscatedExternalAccountId: Text,
  obfuscatedExternalProfileId: Text,
  purchaseCompletionTime: OptionalTime,
  acknowledgementState: Text,
});
export type OneTimePurchase = v.InferOutput<typeof OneTimePurchase>;

const OrderItem = v.looseObject({
  productId: Text,
  total: OptionalMoney,
  tax: OptionalMoney,
  subscriptionDetails: lenient(
    v.looseObject({
      basePlanId: Text,
      offerId: Text,
      offerPhaseDetails: lenient(
        v.looseObject({
          freeTrialDetails: OptionalObject,
          introductoryPriceDetails: OptionalObject,
          prorationPeriodDetails: OptionalObject,
        }),
      ),
      servicePeriodStartTime: OptionalTime,
      servicePeriodEndTime: OptionalTime,
    }),
  ),
});
export type OrderItem = v.InferOutput<typeof OrderItem>;

const PartialRefundEvent = v.looseObject({
  createTime: OptionalTime,
  processTime: OptionalTime,
  state: Text,
  refundDetails: lenient(v.looseObject({ total: OptionalMoney })),
});

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders */
export const Order = v.looseObject({
  orderId: Text,
  purchaseToken: Text,
  buyerAddress: lenient(v.looseObject({ buyerCountry: Text })),
  total: OptionalMoney,
  tax: OptionalMoney,
  developerRevenueInBuyerCurrency: OptionalMoney,
  orderDetails: lenient(v.looseObject({ taxInclusive: lenient(v.boolean()) })),
  state: Text,
  createTime: OptionalTime,
  lastEventTime: OptionalTime,
  orderHistory: lenient(
    v.looseObject({
      processedEvent: lenient(v.looseObject({ eventTime: OptionalTime })),
      partialRefundEvents: lenient(v.array(PartialRefundEvent)),
      refundEvent: lenient(v.looseObject({ eventTime: OptionalTime })),
    }),
  ),
  lineItems: v.fallback(v.optional(v.array(OrderItem), []), []),
});
export type Order = v.InferOutput<typeof Order>;

/** Response of orders.batchGet. */
export const Orders = v.looseObject({ orders: v.optional(v.array(Order), []) });

/**
 * The purchase options of a product.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.onetimeproducts
 */
export const OneTimeProduct = v.looseObject({
  purchaseOptions: v.optional(
    v.array(
      v.looseObject({
        purchaseOptionId: Text,
        rentOption: lenient(v.looseObject({ rentalPeriod: Text })),
      }),
    ),
    [],
  ),
});
export type OneTimeProduct = v.InferOutput<typeof OneTimeProduct>;

const Int64 = v.pipe(v.string(), v.digits(), v.transform(Number));

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.voidedpurchases */
export const VoidedPurchases = v.object({
  voidedPurchases: v.optional(
    v.array(
      v.looseObject({
        purchaseToken: v.string(),
        orderId: v.string(),
        voidedTimeMillis: Int64,
        voidedReason: lenient(v.number()),
        voidedSource: lenient(v.number()),
        voidedQuantity: lenient(v.number()),
      }),
    ),
    [],
  ),
  tokenPagination: lenient(v.looseObject({ nextPageToken: Text })),
});
export type VoidedPurchases = v.InferOutput<typeof VoidedPurchases>;
