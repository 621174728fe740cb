import * as v from 'valibot';
import { BillingAnchor } from '../billing-anchor.ts';
import { Period } from '../calendar.ts';
import { Product as CommonProduct } from '../product.ts';

/** Environment of a purchase. Each environment returns only its own transactions. */
export const Environment = v.picklist(['Production', 'Sandbox']);
export type Environment = v.InferOutput<typeof Environment>;

/** Product of the catalogue. A subscription also has a group. */
export const Product = v.object({ ...CommonProduct.entries, group: v.exactOptional(v.string()) });
export type Product = Readonly<v.InferOutput<typeof Product>>;

/** Store account of a customer, with the download of the app. */
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
  /** Identifier of a redeemed offer code or a promotional offer; absent for an introductory offer. */
  code: v.exactOptional(v.string()),
  /** The developer has signed the offer. */
  isPromotional: v.exactOptional(v.literal(true)),
});

const Revocation = v.object({
  date: v.number(),
  /** 1 is an issue with the app, 0 is any other reason. */
  reason: v.picklist([0, 1]),
  type: v.exactOptional(v.picklist(['REFUND_FULL', 'REFUND_PRORATED', 'FAMILY_REVOKE', 'ASSIGNMENT_REVOKE'])),
  /** Refunded share of the price in thousandths of a percent; absent for a revocation without a refund. */
  percentage: v.exactOptional(v.number()),
  /** The owner's transaction whose refund revoked the share. */
  ownerTransactionId: v.exactOptional(v.string()),
});

/** Monthly plan with a commitment of twelve months. */
const Commitment = v.object({
  /** Number of the billing period, from 1 to 12. */
  billingPeriod: v.number(),
  /** Renews after the last billing period. */
  renews: v.boolean(),
  expiresDate: v.number(),
});
export type Commitment = Readonly<v.InferOutput<typeof Commitment>>;

/** Seats at one price. */
const SeatTier = v.object({ priceMicros: v.number(), quantity: v.number() });
export type SeatTier = Readonly<v.InferOutput<typeof SeatTier>>;
const SeatTiers = v.pipe(v.array(SeatTier), v.readonly());

/** Item of the Advanced Commerce API, which the app's own server sells. */
const Item = v.object({
  sku: v.string(),
  priceMicros: v.number(),
  refunds: v.exactOptional(v.pipe(v.array(v.object({ at: v.number(), amountMicros: v.number() })), v.readonly())),
  /** End of the access to the item. */
  revokedAt: v.exactOptional(v.number()),
});
export type Item = Readonly<v.InferOutput<typeof Item>>;

/** Payment of a purchase, or its family share. */
export const Transaction = v.object({
  transactionId: v.string(),
  webOrderLineItemId: v.exactOptional(v.string()),
  productId: v.string(),
  purchaseDate: v.number(),
  expiresDate: v.exactOptional(v.number()),
  /** Price of one unit. */
  priceMicros: v.number(),
  currency: v.string(),
  quantity: v.number(),
  reason: v.picklist(['PURCHASE', 'RENEWAL']),
  /** Applied offer. */
  offer: v.exactOptional(Offer),
  isUpgraded: v.exactOptional(v.literal(true)),
  revocation: v.exactOptional(Revocation),
  /** Seats of a multiseat purchase. `priceMicros` is the average of a seat then. */
  seats: v.exactOptional(v.object({ tiers: SeatTiers, revoked: v.exactOptional(v.number()) })),
  /** Items of the generic product. `priceMicros` is the sum of their prices then. */
  items: v.exactOptional(v.pipe(v.array(Item), v.readonly())),
  /** Other transactions represent the same period, because seats were added. */
  sharesPeriod: v.exactOptional(v.literal(true)),
  /** Commitment in the period of this transaction. */
  commitment: v.exactOptional(Commitment),
  /** Copies that the customer's devices have restored, the oldest first. */
  restores: v.exactOptional(
    v.pipe(v.array(v.object({ transactionId: v.string(), purchaseDate: v.number() })), v.readonly()),
  ),
  /** Time of the last modification, by which histories are sorted. */
  changedAt: v.number(),
});
export type Transaction = Readonly<v.InferOutput<typeof Transaction>>;

/** Current state of a subscription. */
export const Subscription = v.object({
  state: v.picklist(['ACTIVE', 'EXPIRED', 'BILLING_RETRY', 'BILLING_GRACE_PERIOD', 'REVOKED']),
  /** Renewal intent of the customer. */
  willRenew: v.boolean(),
  /** Renews when the clock passes the end of a period. */
  renewsAutomatically: v.boolean(),
  /** Product of the next renewal. It differs from the current product after a downgrade. */
  renewal: v.object({ productId: v.string(), priceMicros: v.number(), currency: v.string() }),
  /** Seats of the next renewal; absent for a purchase of one customer. */
  seatTiers: v.exactOptional(SeatTiers),
  commitment: v.exactOptional(Commitment),
  anchor: BillingAnchor,
  /** 1 is canceled by the customer, 2 a billing error, 3 a declined price increase, 5 any other reason. */
  expirationIntent: v.exactOptional(v.picklist([1, 2, 3, 5])),
  graceUntil: v.exactOptional(v.number()),
  priceIncrease: v.exactOptional(v.object({ accepted: v.boolean(), priceMicros: v.number() })),
  /** Offer of the next renewal. */
  nextOffer: v.exactOptional(v.object({ ...Offer.entries, priceMicros: v.number() })),
  /** Start of the current series of periods without a gap of 60 days or more. */
  recentStart: v.number(),
});
export type Subscription = Readonly<v.InferOutput<typeof Subscription>>;

/** Purchase: all transactions with one original transaction id. */
export const Purchase = v.object({
  /** Original transaction id. */
  id: v.string(),
  accountId: v.string(),
  /** Purchase of the customer who paid; absent for an own purchase. */
  sharedFrom: v.exactOptional(v.string()),
  /** An assigned seat instead of a family share. */
  isAssigned: v.exactOptional(v.literal(true)),
  isFinished: v.exactOptional(v.literal(true)),
  /** App account token that the developer has set, for the transactions from a purchase date on. */
  developerToken: v.exactOptional(v.object({ token: v.string(), from: v.number() })),
  /** Times at which the developer extended the subscription. */
  extendedAt: v.exactOptional(v.pipe(v.array(v.number()), v.readonly())),
  /** Oldest first. */
  transactions: v.pipe(v.tupleWithRest([Transaction], Transaction), v.readonly()),
  subscription: v.exactOptional(Subscription),
});
export type Purchase = Readonly<v.InferOutput<typeof Purchase>>;

/** Returns the latest transaction, which determines the state of the purchase. */
export const getLatestTransaction = ({ transactions }: Purchase): Transaction => transactions.at(-1) ?? transactions[0];
