import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { ServiceError } from '../../shared/errors.ts';
import { withPlatform } from '../../shared/platform.ts';
import { omitNullish, toMillis } from './convert.ts';
import { type MappingContext, readCheckoutUser, readUserAliases, requireOwnApp, toOfferId } from './mapping-context.ts';
import { toCurrencyCode, toMicros } from './money.ts';
import type { Charge, PaymentIntent, Price, Product, Session } from './payloads.ts';
import { type PaymentReversals, toRefundFields } from './payment-reversals.ts';
import { toProductType } from './product-type.ts';

interface SaleContext {
  readonly context: MappingContext;
  /** Reversals by charge id and payment intent id. */
  readonly reversals: ReadonlyMap<string, PaymentReversals>;
  /** Products of the line items, by id. */
  readonly products: ReadonlyMap<string, Product>;
}

/** The item of a one-time sale. */
interface SoldItem {
  readonly productId: string;
  readonly price?: Price;
  readonly quantity: number;
  readonly product: Product | undefined;
}

/**
 * Maps a one-time sale of a checkout session. Returns undefined if the session is not complete. Throws `InvalidPayload`
 * if the session belongs to another app.
 *
 * @see https://docs.stripe.com/api/checkout/sessions/object
 */
export function toPaymentObservation(
  session: Session,
  { context, reversals, products }: SaleContext,
): Observation | undefined {
  const intent = typeof session.payment_intent === 'string' ? undefined : (session.payment_intent ?? undefined);
  requireOwnApp(context, session.metadata);
  const [line] = session.line_items?.data ?? [];
  if (session.status !== 'complete') return undefined;
  if (!line?.price) throw new ServiceError('InvalidPayload', 'The product of the checkout session is missing.');
  const productId = getPriceProductId(line.price);
  const item = { productId, price: line.price, quantity: line.quantity ?? 1, product: products.get(productId) };
  const { purchase, transaction } = toOneTimePurchase(toSessionPayment(session, intent, reversals), item, context);
  const isUnpaid = session.payment_status === 'unpaid';
  const isAbandoned = isUnpaid && failedStatuses.has(intent?.status ?? '');
  const isPending = isUnpaid && !isAbandoned;
  return {
    asOf: context.now,
    purchase: {
      ...purchase,
      ...(isPending && { isPending }),
      ...(isAbandoned && { isAbandoned }),
      ...toDiscountId(session),
    },
    transactions: isUnpaid ? [] : [transaction],
    userAliases: session.client_reference_id ? [session.client_reference_id] : readUserAliases(session.metadata),
    ...readCheckoutUser(context, session.metadata),
    refreshToken: { id: session.id, ...(session.customer && { customer: session.customer }) },
  };
}

/**
 * Statuses of a payment intent whose delayed payment has failed: the customer cannot pay a complete session again.
 *
 * @see https://docs.stripe.com/payments/paymentintents/lifecycle
 */
const failedStatuses = new Set(['requires_payment_method', 'canceled']);

function toSessionPayment(
  session: Session,
  intent: PaymentIntent | undefined,
  reversals: SaleContext['reversals'],
): Payment {
  const charge = getLatestCharge(intent);
  return {
    id: intent?.id ?? session.id,
    transactionId: charge?.id ?? intent?.id ?? session.id,
    created: charge?.created ?? intent?.created ?? session.created,
    livemode: session.livemode,
    currency: intent?.currency ?? session.currency ?? '',
    amount: intent?.amount_received ?? session.amount_total ?? 0,
    reversals: charge && reversals.get(charge.id),
  };
}

/**
 * Maps a charge that was created without a checkout session. Its `metadata` must name the product. Returns undefined if
 * the charge failed. Throws `InvalidPayload` if the product is missing or the charge belongs to another app.
 */
export function toChargeObservation(
  charge: Charge,
  { context, reversals, products }: SaleContext,
): Observation | undefined {
  requireOwnApp(context, charge.metadata);
  const productId = getChargedProductId(charge);
  if (productId === undefined) {
    throw new ServiceError('InvalidPayload', 'metadata.productId of the charge is missing.');
  }
  if (!charge.paid) return undefined;
  const { purchase, transaction } = toOneTimePurchase(
    {
      ...charge,
      id: charge.payment_intent ?? charge.id,
      transactionId: charge.id,
      reversals: reversals.get(charge.id),
    },
    { productId, quantity: 1, product: products.get(productId) },
    context,
  );
  return {
    asOf: context.now,
    purchase,
    transactions: [transaction],
    userAliases: readUserAliases(charge.metadata),
    ...readCheckoutUser(context, charge.metadata),
    refreshToken: { id: charge.id },
  };
}

/** Returns the product id in the metadata of a charge. */
export const getChargedProductId = ({ metadata }: Charge): string | undefined =>
  metadata?.productId ?? metadata?.product_id;

interface Payment {
  readonly id: string;
  readonly transactionId: string;
  /** Epoch seconds. */
  readonly created: number;
  readonly livemode: boolean;
  readonly currency: string;
  /** In the currency's smallest unit. */
  readonly amount: number;
  readonly reversals: PaymentReversals | undefined;
}

function toOneTimePurchase(
  payment: Payment,
  { productId, price, quantity, product }: SoldItem,
  context: MappingContext,
) {
  const { platform } = context;
  const full = payment.reversals?.full;
  const common = {
    purchaseId: withPlatform(platform, payment.id),
    transactionId: withPlatform(platform, payment.transactionId),
    productId: withPlatform(platform, productId),
    platform,
    sandbox: !payment.livemode,
    purchaseDate: toMillis(payment.created),
    currency: toCurrencyCode(payment.currency),
    amountMicros: toMicros(payment.amount, payment.currency),
    quantity,
    ...(price && { offerId: toOfferId(context, productId, price.id) }),
  };
  const purchase: Purchase = {
    ...common,
    productType: toProductType(product, price),
    ...(full && { endedAt: full.at, cancelationReason: full.kind === 'refund' ? 'Customer' : 'System' }),
  };
  const transaction: Transaction = { ...common, ...toRefundFields(payment.reversals) };
  return { purchase, transaction };
}

/** Returns the latest charge of a payment intent if it was expanded. */
export const getLatestCharge = (intent: PaymentIntent | undefined): Charge | undefined =>
  typeof intent?.latest_charge === 'object' ? (intent.latest_charge ?? undefined) : undefined;

/** Returns the product id of a price. */
export const getPriceProductId = ({ product }: Price): string => (typeof product === 'string' ? product : product.id);

const toDiscountId = ({ discounts }: Session) =>
  omitNullish({ discountId: discounts?.[0]?.promotion_code ?? discounts?.[0]?.coupon });
