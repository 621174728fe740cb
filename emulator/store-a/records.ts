import * as v from 'valibot';
import { Period } from '../calendar.ts';
import { ProductType } from '../purchase-order.ts';

/** Which of the two worlds a purchase lives in; neither knows the other's transactions. */
export const Environment = v.picklist(['Production', 'Sandbox']);
export type Environment = v.InferOutput<typeof Environment>;

/** Something for sale; a subscription has a period and a group, other products a period where the buyer is told one. */
export const Product = v.object({
  id: v.string(),
  type: ProductType,
  priceMicros: v.number(),
  currency: v.string(),
  period: v.exactOptional(Period),
  group: v.exactOptional(v.string()),
});
export type Product = Readonly<v.InferOutput<typeof Product>>;

/** A customer's account with the store, as far as this application goes: it owns purchases and downloaded the app. */
export const Account = v.object({
  id: v.string(),
  environment: Environment,
  applicationUsername: v.exactOptional(v.string()),
  appTransactionId: v.string(),
  downloadedAt: v.number(),
});
export type Account = Readonly<v.InferOutput<typeof Account>>;

const Offer = v.object({
  discountType: v.picklist(['FREE_TRIAL', 'PAY_AS_YOU_GO', 'PAY_UP_FRONT']),
  period: Period,
  /** Names the offer that a code was redeemed for; absent for the introductory one. */
  code: v.exactOptional(v.string()),
});

const Revocation = v.object({
  date: v.number(),
  /** 0 for another reason, 1 for a defect of the application. */
  reason: v.picklist([0, 1]),
  type: v.exactOptional(v.picklist(['REFUND_FULL', 'FAMILY_REVOKE'])),
});

/** One payment of a purchase, or a share of one. */
export const Transaction = v.object({
  transactionId: v.string(),
  webOrderLineItemId: v.exactOptional(v.string()),
  productId: v.string(),
  purchaseDate: v.number(),
  expiresDate: v.exactOptional(v.number()),
  /** Of one piece. */
  priceMicros: v.number(),
  currency: v.string(),
  quantity: v.number(),
  reason: v.picklist(['PURCHASE', 'RENEWAL']),
  /** The offer that applied. */
  offer: v.exactOptional(Offer),
  isUpgraded: v.exactOptional(v.literal(true)),
  revocation: v.exactOptional(Revocation),
  /** When the store last touched the transaction: the order of histories. */
  changedAt: v.number(),
});
export type Transaction = Readonly<v.InferOutput<typeof Transaction>>;

/** What a subscription is at the moment, beyond its transactions. */
export const Subscription = v.object({
  state: v.picklist(['ACTIVE', 'EXPIRED', 'BILLING_RETRY', 'BILLING_GRACE_PERIOD', 'REVOKED']),
  /** Whether the customer lets it renew. */
  willRenew: v.boolean(),
  /** Whether it renews by itself when the clock passes the end of a period. */
  renewsAutomatically: v.boolean(),
  /** What it renews as: another product than the current one after a downgrade. */
  renewal: v.object({ productId: v.string(), priceMicros: v.number(), currency: v.string() }),
  /** The current period ends `periods` periods after `date`, so that a month of 31 days keeps its day. */
  anchor: v.object({ date: v.number(), period: Period, periods: v.number() }),
  /** Why it expired: 1 the customer cancelled, 2 no payment, 3 no consent to a price, 5 the renewal never came. */
  expirationIntent: v.exactOptional(v.picklist([1, 2, 3, 5])),
  graceUntil: v.exactOptional(v.number()),
  priceIncrease: v.exactOptional(v.object({ accepted: v.boolean(), priceMicros: v.number() })),
  /** The offer that applies to the next renewal. */
  comingOffer: v.exactOptional(v.object({ ...Offer.entries, priceMicros: v.number() })),
  /** The start of the current run of periods. */
  recentStart: v.number(),
});
export type Subscription = Readonly<v.InferOutput<typeof Subscription>>;

/** What one original transaction stands for. */
export const Purchase = v.object({
  /** The original transaction id. */
  id: v.string(),
  accountId: v.string(),
  /** The purchase that the family's organizer made; absent for one's own. */
  sharedFrom: v.exactOptional(v.string()),
  /** Oldest first. */
  transactions: v.pipe(v.tupleWithRest([Transaction], Transaction), v.readonly()),
  subscription: v.exactOptional(Subscription),
});
export type Purchase = Readonly<v.InferOutput<typeof Purchase>>;

/** The latest transaction, which tells what the purchase is now. */
export const getLatestTransaction = ({ transactions }: Purchase): Transaction => transactions.at(-1) ?? transactions[0];
