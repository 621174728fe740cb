import * as v from 'valibot';
import { PurchaseOrder } from '../purchase-order.ts';

const StatusEntry = { status: v.string(), timestamp: v.number() };
const History = v.array(v.object(StatusEntry));

/** A dispute of a payment. The customer can start another one after one that the merchant has won. */
export const Dispute = v.object({
  id: v.string(),
  kind: v.picklist(['chargeback', 'pre_arbitration']),
  openedAt: v.number(),
  status: v.picklist(['open', 'won', 'lost']),
  /** Amount that was won, if it is a part. */
  wonAmount: v.exactOptional(v.string()),
});
export type Dispute = v.InferOutput<typeof Dispute>;

/** A payment, or a refund if its type is `credit`. */
export const Payment = v.object({
  id: v.string(),
  type: v.picklist(['sale', 'credit']),
  status: v.string(),
  amount: v.string(),
  currency: v.string(),
  /** Tax that the amount contains. */
  taxAmount: v.exactOptional(v.string()),
  /** Country of the billing address. */
  country: v.exactOptional(v.string()),
  createdAt: v.number(),
  updatedAt: v.number(),
  customerId: v.exactOptional(v.string()),
  orderId: v.exactOptional(v.string()),
  requestKey: v.exactOptional(v.string()),
  nonce: v.exactOptional(v.string()),
  subscriptionId: v.exactOptional(v.string()),
  /** First and last day of the billing period, as midnights in UTC. */
  billingPeriod: v.exactOptional(v.tuple([v.number(), v.number()])),
  refundIds: v.array(v.string()),
  refundedId: v.exactOptional(v.string()),
  rejection: v.exactOptional(v.string()),
  /** Oldest first. */
  disputes: v.exactOptional(v.array(Dispute)),
  response: v.object({ code: v.string(), text: v.string() }),
  /** Statuses before the current one, the latest first. */
  history: v.exactOptional(History),
});
export type Payment = v.InferOutput<typeof Payment>;

/** A dispute has debited the payment and not returned it. */
export const isDisputed = ({ disputes = [] }: Payment): boolean => disputes.some(({ status }) => status !== 'won');

/** A subscription. Its next payment is due `cycles` periods after the day `firstBilling`. */
export const Subscription = v.object({
  id: v.string(),
  planId: v.string(),
  token: v.string(),
  customerId: v.string(),
  price: v.string(),
  currency: v.string(),
  country: v.exactOptional(v.string()),
  months: v.number(),
  /** Percentage of the tax that the price contains. */
  taxRate: v.exactOptional(v.number()),
  /** Number of billing cycles that a discount makes free. */
  freeCycles: v.exactOptional(v.number()),
  /** Number of billing cycles before the discount. Default: 0. */
  freeFrom: v.exactOptional(v.number()),
  /** Negative for a credit that reduces the next charges. */
  balanceMicros: v.exactOptional(v.number()),
  status: v.picklist(['Active', 'Past Due', 'Canceled', 'Expired', 'Pending']),
  createdAt: v.number(),
  updatedAt: v.number(),
  /** First billing day in the time zone of the gateway: its midnight in UTC. */
  firstBilling: v.number(),
  cycles: v.number(),
  isTrial: v.boolean(),
  autoRenew: v.boolean(),
  /** The payment of the current period failed, and the gateway retries it. */
  isRetrying: v.exactOptional(v.boolean()),
  /** The plan at the time of each status. Entries of earlier releases lack it. */
  history: v.array(v.object({ ...StatusEntry, planId: v.exactOptional(v.string()) })),
  /** Oldest first. */
  payments: v.array(v.string()),
});
export type Subscription = v.InferOutput<typeof Subscription>;

/** The order of a nonce that a client can validate. */
export const PendingOrder = v.object({
  nonce: v.string(),
  order: PurchaseOrder,
  /** Customer whose vault contains the payment method of the nonce. */
  customerId: v.exactOptional(v.string()),
});
export type PendingOrder = v.InferOutput<typeof PendingOrder>;

/** A payment method in the vault. */
export const PaymentMethod = v.object({ token: v.string(), customerId: v.string(), nonce: v.string() });
export type PaymentMethod = v.InferOutput<typeof PaymentMethod>;

/** `MerchantState` as JSON. */
export const SavedState = v.object({
  merchantId: v.string(),
  publicKey: v.string(),
  privateKey: v.string(),
  products: v.array(v.tuple([v.string(), PurchaseOrder])),
  customers: v.array(v.string()),
  methods: v.array(v.tuple([v.string(), PaymentMethod])),
  payments: v.array(v.tuple([v.string(), Payment])),
  subscriptions: v.array(v.tuple([v.string(), Subscription])),
  pendingOrders: v.array(v.tuple([v.string(), PendingOrder])),
  usedNonces: v.array(v.string()),
  settings: v.exactOptional(v.unknown()),
});
export type SavedState = v.InferOutput<typeof SavedState>;

/** The bank's response to an approved payment. */
export const approvedResponse = { code: '1000', text: 'Approved' };
