import * as v from 'valibot';
import { Period } from './calendar.ts';

const Username = v.pipe(
  v.union([v.string(), v.number()]),
  v.transform(String),
  v.check((text) => text.length > 0 && text.length <= 512, 'expected 1 to 512 characters'),
);
const ProductId = v.pipe(v.string(), v.minLength(1), v.maxLength(255));
const Micros = v.pipe(v.number(), v.integer(), v.minValue(0));
const Currency = v.pipe(v.string(), v.regex(/^[A-Z]{3}$/, 'expected an ISO 4217 code such as USD'));

/** Product type, with the names of the validation API. */
export const ProductType = v.picklist([
  'paid subscription',
  'non renewing subscription',
  'consumable',
  'non consumable',
]);
export type ProductType = v.InferOutput<typeof ProductType>;

/** Paid introductory offer. Its default period is the period of the product. */
const IntroOffer = v.strictObject({ priceMicros: Micros, period: v.exactOptional(Period) });

/** Another product of a purchase. Its default period is the period of the first product. */
const OrderItem = v.strictObject({
  productId: ProductId,
  priceMicros: Micros,
  period: v.exactOptional(Period),
  /** processor_a: whether the first invoice of the subscription has the product once, for example a setup fee. */
  oneTime: v.exactOptional(v.boolean()),
});

/** Add-on of a subscription: it has the billing period of the first product. */
const AddOn = v.strictObject({ productId: ProductId, priceMicros: v.exactOptional(Micros) });

const Seats = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_000));
const SeatTier = v.strictObject({ priceMicros: Micros, quantity: Seats });

const SignedOffer = v.strictObject({
  kind: v.picklist(['promotional', 'promotional-v1', 'introductory', 'advanced-commerce']),
  signature: v.string(),
  offerId: v.exactOptional(v.string()),
  keyId: v.exactOptional(v.string()),
  nonce: v.exactOptional(v.string()),
  timestamp: v.exactOptional(v.number()),
  appAccountToken: v.exactOptional(v.string()),
});

/** Body of `POST /control/purchases` without the platform. */
export const PurchaseOrder = v.strictObject({
  productId: ProductId,
  type: ProductType,
  applicationUsername: v.exactOptional(Username),
  period: v.exactOptional(Period),
  priceMicros: v.exactOptional(Micros),
  currency: v.exactOptional(Currency),
  quantity: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10))),
  /** Free first period. `true` means one period of the product. */
  trial: v.exactOptional(v.union([v.boolean(), Period])),
  /** Paid first period. `true` means half the price. */
  intro: v.exactOptional(v.union([v.boolean(), IntroOffer])),
  sandbox: v.exactOptional(v.boolean()),
  /** The action `pay` completes a pending payment, `abandon` ends it unpaid. */
  pending: v.exactOptional(v.boolean()),
  /**
   * store_b: whether the app on the device acknowledges the purchase, and each purchase that follows from it, when it
   * is paid.
   */
  acknowledged: v.exactOptional(v.boolean()),
  /** store_b: products of the subscription in addition to `productId`, the base item. */
  addOns: v.exactOptional(v.pipe(v.array(AddOn), v.minLength(1), v.maxLength(49))),
  /** store_b: time that the customer has a rented one-time product. */
  rentalPeriod: v.exactOptional(Period),
  /** store_b: time until the release of a one-time product that the customer orders before. It is charged then. */
  preorderPeriod: v.exactOptional(Period),
  /** store_b: whether the plan of the subscription is prepaid: it ends after a period, unless it is topped up. */
  prepaid: v.exactOptional(v.boolean()),
  /** store_b: payments to which the customer of an installment subscription commits. */
  installments: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(2), v.maxValue(24))),
  /** The subscription renews when the clock passes the end of a period. */
  autoRenew: v.exactOptional(v.boolean()),
  /** Form of the `validate` body. Each store has a default. */
  form: v.exactOptional(v.string()),
  /** processor_b: amount that the buyer chooses, for example of a donation. */
  amountMicros: v.exactOptional(Micros),
  /**
   * The other products of the purchase; `productId` is the first. processor_a: items of the subscription, or line items
   * of the checkout session. processor_b: ids of the products in the cart. store_a: all items of the Advanced Commerce
   * API, whose prices are the price of `productId`.
   */
  items: v.exactOptional(v.array(v.union([ProductId, OrderItem]))),
  /**
   * processor_b: token of the payment form. If it names a customer, the form stores the payment method for that
   * customer.
   */
  clientToken: v.exactOptional(v.pipe(v.string(), v.minLength(1))),
  /** store_a: seats of a multiseat purchase. `priceMicros` is the price of a seat. */
  seats: v.exactOptional(Seats),
  /** store_a: prices of the seats. Default: all at the price of the product. */
  seatTiers: v.exactOptional(v.pipe(v.array(SeatTier), v.minLength(1))),
  /** store_a: monthly billing with a commitment of twelve months. */
  commitment: v.exactOptional(v.boolean()),
  /** store_a: offer that the developer's server has signed, for StoreKit. */
  signedOffer: v.exactOptional(SignedOffer),
  /** processor_a, processor_b, store_c: country of the customer in two letters (ISO 3166-1). Default: `US`. */
  country: v.exactOptional(v.pipe(v.string(), v.regex(/^[A-Z]{2}$/, 'expected an ISO 3166-1 code such as DE'))),
  /** processor_a: emails the invoices of a subscription instead of charging the customer. */
  collection: v.exactOptional(v.literal('send_invoice')),
  /** processor_a: days between an emailed invoice and its due date. Default: 30. */
  daysUntilDue: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(365))),
  /** processor_a: time before the purchase at which the subscription starts. It is billed with the first invoice. */
  backdate: v.exactOptional(Period),
  /** processor_a: whether the price is per unit of usage, which is billed at the end of a period. */
  metered: v.exactOptional(v.boolean()),
  /** processor_a: whether the payment of a one-time purchase is authorized only. `pay` captures it. */
  capture: v.exactOptional(v.literal('manual')),
  /** processor_a: whether the checkout of a one-time purchase creates an invoice when it is paid. */
  invoiceCreation: v.exactOptional(v.boolean()),
  /** processor_b: billing periods that a discount makes free. */
  freeCycles: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(12))),
  /** Percentage of the tax that is added to the price. processor_b: that the price contains. */
  taxRate: v.exactOptional(v.pipe(v.number(), v.minValue(0), v.maxValue(100))),
  /** Subscription group of a product that this purchase creates. */
  group: v.exactOptional(v.pipe(v.string(), v.minLength(1), v.maxLength(64))),
});
export type PurchaseOrder = v.InferOutput<typeof PurchaseOrder>;

/** Body of `POST /control/purchases/{id}/{action}`. Each action reads its own members. */
export const ActionBody = v.strictObject({
  productId: v.exactOptional(ProductId),
  applicationUsername: v.exactOptional(Username),
  priceMicros: v.exactOptional(Micros),
  currency: v.exactOptional(Currency),
  period: v.exactOptional(Period),
  /** processor_a, renew: whether the payment is a debit that takes days. `pay` or `fail-payment` settles it. */
  pending: v.exactOptional(v.boolean()),
  /** processor_b, renew: whether a discount makes the period free. */
  free: v.exactOptional(v.boolean()),
  /** processor_a: id of the open invoice to pay or to mark as uncollectible. Default: the latest. */
  invoice: v.exactOptional(v.string()),
  /**
   * processor_a: whether `pay` pays the invoice outside of Stripe, with a payment record, and whether that record
   * reports the refund of `refund-outside`, without a credit note.
   */
  record: v.exactOptional(v.boolean()),
  /** `false` ends access immediately when a payment fails. */
  grace: v.exactOptional(v.boolean()),
  /** processor_b, fail-payment: whether the subscription stays active, because the gateway retries the payment. */
  retrying: v.exactOptional(v.boolean()),
  /** store_b, fail-payment: whether the store reports the failure a day after the period. */
  silent: v.exactOptional(v.boolean()),
  /** Transaction to refund. Default: the latest. */
  transactionId: v.exactOptional(v.string()),
  /** processor_a: number of the payment to refund or dispute, by date, from 1. Default: `last`. */
  payment: v.exactOptional(v.union([v.literal('last'), v.pipe(v.number(), v.integer(), v.minValue(1))])),
  /** processor_a: whether the payment of the extra invoice fails. */
  unpaid: v.exactOptional(v.boolean()),
  /** processor_a, add-item: whether the item has a free trial until the end of the billing cycle. */
  trial: v.exactOptional(v.boolean()),
  /** processor_a: new end of the trial: `now`, a time, or a period from now. schedule-end: end of the schedule. */
  end: v.exactOptional(v.string()),
  /** store_a, restore: purchase date of the restored transaction. */
  date: v.exactOptional(v.picklist(['original', 'now'])),
  /** Quantity to refund. Default: the whole purchase. */
  quantity: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  /** Amount to refund, to capture, or to win of a dispute, in micros. Default: the whole payment. */
  amountMicros: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  /** store_b: changes the plan at the next renewal. processor_a: bills the proration with the next invoice. */
  deferred: v.exactOptional(v.boolean()),
  /** store_a, store_c: refunds the unused time of a subscription period. */
  prorated: v.exactOptional(v.boolean()),
  /** store_c, refund: whether the customer keeps the product. */
  keep: v.exactOptional(v.boolean()),
  /** request-refund: reason of the customer, in the store's terms. */
  reason: v.exactOptional(v.string()),
  form: v.exactOptional(v.string()),
});
export type ActionBody = v.InferOutput<typeof ActionBody>;

/** Returns the currency and the price that an action sets. What it does not set is absent. */
export const pickPrice = ({ currency, priceMicros }: ActionBody): Pick<ActionBody, 'currency' | 'priceMicros'> => ({
  ...(currency !== undefined && { currency }),
  ...(priceMicros !== undefined && { priceMicros }),
});
