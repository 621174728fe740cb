import * as v from 'valibot';

/** Whether the customer lets a subscription renew. */
export const RenewalIntent = v.picklist(['Lapse', 'Renew']);
export type RenewalIntent = v.InferOutput<typeof RenewalIntent>;

/** Whether the customer has agreed to a price increase or was only notified of it. */
export const PriceConsentStatus = v.picklist(['Agreed', 'Notified']);
export type PriceConsentStatus = v.InferOutput<typeof PriceConsentStatus>;

/** Why a purchase ended or will not renew. */
export const CancelationReason = v.picklist([
  'Developer',
  'System',
  'System.Replaced',
  'System.ProductUnavailable',
  'System.BillingError',
  'System.Deleted',
  'Customer',
  'Customer.TechnicalIssues',
  'Customer.PriceIncrease',
  'Customer.Cost',
  'Customer.FoundBetterApp',
  'Customer.NotUsefulEnough',
  'Customer.OtherReason',
  'Unknown',
  // Spec: missing in the enumeration, but required by the rule on paused purchases.
  'PAUSED',
]);
export type CancelationReason = v.InferOutput<typeof CancelationReason>;

/** Type of a product, as clients register it. */
export const ProductType = v.picklist([
  'paid subscription',
  'non renewing subscription',
  'consumable',
  'non consumable',
]);
export type ProductType = v.InferOutput<typeof ProductType>;

/**
 * Kind of value of an event tag: `_A` user, `_R` request, `_X` error, `AT` access token, `_P` purchase, `_T`
 * transaction, `_I` product.
 */
export const TagType = v.picklist(['_A', '_R', '_X', 'AT', '_P', '_T', '_I']);
export type TagType = v.InferOutput<typeof TagType>;
