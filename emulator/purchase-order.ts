import * as v from 'valibot';
import { Period } from './calendar.ts';

const Name = v.pipe(
  v.union([v.string(), v.number()]),
  v.transform(String),
  v.check((text) => text.length > 0 && text.length <= 512, 'expected 1 to 512 characters'),
);
const ProductId = v.pipe(v.string(), v.minLength(1), v.maxLength(255));
const Micros = v.pipe(v.number(), v.integer(), v.minValue(0));
const Currency = v.pipe(v.string(), v.regex(/^[A-Z]{3}$/, 'expected an ISO 4217 code such as USD'));

/** What kind of product is bought, in the words of the validation API. */
export const ProductType = v.picklist([
  'paid subscription',
  'non renewing subscription',
  'consumable',
  'non consumable',
]);
export type ProductType = v.InferOutput<typeof ProductType>;

/** A paid introductory offer; it lasts one period of the product unless it says otherwise. */
const IntroOffer = v.strictObject({ priceMicros: Micros, period: v.exactOptional(Period) });

/** The body of `POST /control/purchases`, without its platform. */
export const PurchaseOrder = v.strictObject({
  productId: ProductId,
  type: ProductType,
  applicationUsername: v.exactOptional(Name),
  period: v.exactOptional(Period),
  priceMicros: v.exactOptional(Micros),
  currency: v.exactOptional(Currency),
  quantity: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10))),
  /** A free first period; as long as the product's unless it is a duration of its own. */
  trial: v.exactOptional(v.union([v.boolean(), Period])),
  /** A paid first period; `true` is one at half the price. */
  intro: v.exactOptional(v.union([v.boolean(), IntroOffer])),
  sandbox: v.exactOptional(v.boolean()),
  /** Renews by itself whenever the clock passes the end of a period. */
  autoRenew: v.exactOptional(v.boolean()),
  /** Which of the store's receipts `validate` carries; each store has its default. */
  form: v.exactOptional(v.string()),
  /** The subscription group of a product that is made by this purchase. */
  group: v.exactOptional(v.pipe(v.string(), v.minLength(1), v.maxLength(64))),
});
export type PurchaseOrder = v.InferOutput<typeof PurchaseOrder>;

/** The body of `POST /control/purchases/{id}/{action}`: each action reads what it needs. */
export const ActionBody = v.strictObject({
  productId: v.exactOptional(ProductId),
  applicationUsername: v.exactOptional(Name),
  priceMicros: v.exactOptional(Micros),
  currency: v.exactOptional(Currency),
  period: v.exactOptional(Period),
  /** `false` makes a failed payment end access at once. */
  grace: v.exactOptional(v.boolean()),
  /** The transaction to refund, when it is not the latest. */
  transactionId: v.exactOptional(v.string()),
  /** How many to refund, when it is not all. */
  quantity: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  form: v.exactOptional(v.string()),
});
export type ActionBody = v.InferOutput<typeof ActionBody>;
