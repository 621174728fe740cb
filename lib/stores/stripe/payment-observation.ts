import { ServiceError } from '../../foundation/errors.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { withPlatform } from '../../foundation/platform.ts';
import { splitAmount } from '../../foundation/split-amount.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { selectCountry } from './buyer-country.ts';
import { addOutsideRefunds } from './invoices.ts';
import {
  getPriceProductId,
  type MappingContext,
  readCheckoutUser,
  readUserAliases,
  requireOwnApp,
  toOfferId,
} from './mapping-context.ts';
import { omitNullish, toCurrencyCode, toMicros, toMillis } from './money.ts';
import type { Charge, LineItem, PaymentIntent, Price, Product, Session } from './payloads.ts';
import { type ChargeIndex, type PaymentReversals, splitReversals, toRefundFields } from './payment-reversals.ts';
import { toProductType } from './product-type.ts';

interface SaleContext extends ChargeIndex {
  readonly mapping: MappingContext;
  /** Products of the line items, by id. */
  readonly products: ReadonlyMap<string, Product>;
  /** Product of the stored purchase with the id of the payment, without platform prefix. */
  readonly mainProductId?: string | undefined;
}

/** The item of a one-time sale. */
interface SoldItem {
  readonly productId: string;
  readonly price?: Price;
  readonly quantity: number;
  readonly product: Product | undefined;
}

/**
 * Maps a one-time sale of a checkout session to one observation for each line item. Returns an empty array if the
 * session is not complete. Throws `InvalidPayload` if the session belongs to another app.
 *
 * @see https://docs.stripe.com/api/checkout/sessions/object
 */
export function toPaymentObservations(session: Session, sale: SaleContext): Observation[] {
  const { mapping, products, mainProductId } = sale;
  const intent = typeof session.payment_intent === 'string' ? undefined : (session.payment_intent ?? undefined);
  requireOwnApp(mapping, session.metadata);
  if (session.status !== 'complete') return [];
  const lines = listSoldLines(session, mainProductId);
  if (lines.length === 0) throw new ServiceError('InvalidPayload', 'The product of the checkout session is missing.');
  const payments = splitPayment(toSessionPayment(session, intent, sale), lines);
  return lines.map(({ price, quantity }, index) => {
    const productId = getPriceProductId(price);
    const item = { productId, price, quantity: quantity ?? 1, product: products.get(productId) };
    return toLineObservation(session, toOneTimePurchase(payments[index] as Payment, item, mapping), {
      mapping,
      intent,
    });
  });
}

type SoldLine = LineItem & { readonly price: Price };

/** Lists the line items with a price. The line of the stored purchase is first, in any order of the response. */
function listSoldLines({ line_items }: Session, mainProductId: string | undefined): SoldLine[] {
  const lines = (line_items?.data ?? []).filter((line): line is SoldLine => line.price !== null);
  const main = lines.find(({ price }) => getPriceProductId(price) === mainProductId) ?? lines[0];
  return main ? [main, ...lines.filter((line) => line !== main)] : [];
}

/** Splits a payment by the totals of its lines. The first one has the ids of the payment, the others add their own. */
function splitPayment(payment: Payment, lines: readonly SoldLine[]): Payment[] {
  if (lines.length === 1) return [payment];
  const totals = lines.map(
    ({ amount_total, price, quantity }) => amount_total ?? (price.unit_amount ?? 0) * (quantity ?? 1),
  );
  const amounts = splitAmount(payment.amount, totals);
  const reversals = payment.reversals && splitReversals(payment.reversals, amounts, payment.currency);
  const taxes = splitAmount(
    payment.tax,
    lines.map(({ amount_tax }) => amount_tax ?? 0),
  );
  return lines.map(({ id, price }, index) => {
    const suffix = index === 0 ? '' : `:${id ?? price.id}`;
    return {
      ...payment,
      id: `${payment.id}${suffix}`,
      transactionId: `${payment.transactionId}${suffix}`,
      amount: amounts[index] ?? 0,
      tax: taxes[index] ?? 0,
      reversals: reversals?.[index],
    };
  });
}

function toLineObservation(
  session: Session,
  { purchase, transaction }: ReturnType<typeof toOneTimePurchase>,
  { mapping, intent }: { mapping: MappingContext; intent: PaymentIntent | undefined },
): Observation {
  // The payment has a newer status than its session if it is captured by hand.
  const isUnpaid = session.payment_status === 'unpaid' && intent?.status !== 'succeeded';
  const isAbandoned = isUnpaid && failedStatuses.has(intent?.status ?? '');
  const isPending = isUnpaid && !isAbandoned;
  return {
    asOf: mapping.now,
    purchase: {
      ...purchase,
      ...(isPending && { isPending }),
      ...(isAbandoned && { isAbandoned }),
      ...toDiscountId(session),
    },
    transactions: isUnpaid ? [] : [transaction],
    userAliases: readSessionAliases(session),
    ...readCheckoutUser(mapping, session.metadata),
    refreshToken: { id: session.id, ...(session.customer && { customer: session.customer }) },
  };
}

/**
 * Statuses of a payment intent whose delayed payment has failed: the customer cannot pay a complete session again.
 *
 * @see https://docs.stripe.com/payments/paymentintents/lifecycle
 */
const failedStatuses = new Set(['requires_payment_method', 'canceled']);

export const readSessionAliases = ({ client_reference_id: reference, metadata }: Session): string[] =>
  reference ? [reference] : readUserAliases(metadata);

/** Returns the id of the payment intent of a session, or of a session without payment. */
export const getPaymentId = ({ id, payment_intent: intent }: Session): string =>
  typeof intent === 'string' ? id : (intent?.id ?? id);

function toSessionPayment(
  session: Session,
  intent: PaymentIntent | undefined,
  { mapping: { now }, reversals, countries, ...facts }: SaleContext,
): Payment {
  const charge = getLatestCharge(intent);
  const { invoice } = session;
  const chargeReversals = charge && reversals.get(charge.id);
  return {
    id: getPaymentId(session),
    transactionId: charge?.id ?? intent?.id ?? session.id,
    created: charge?.created ?? intent?.created ?? session.created ?? 0,
    livemode: session.livemode,
    currency: intent?.currency || session.currency || '',
    amount: intent?.amount_received ?? session.amount_total ?? 0,
    tax: session.total_details?.amount_tax ?? 0,
    reversals:
      invoice === null || typeof invoice === 'string'
        ? chargeReversals
        : addOutsideRefunds(chargeReversals, invoice, { ...facts, now }),
    country: selectCountry(session.customer_details?.address, countries, [charge?.id, intent?.id]),
    isDiscounted: session.discounts.length > 0,
  };
}

/**
 * Maps a charge that was created without a checkout session. Its `metadata` must name the product. An authorization is
 * pending until it is captured, and a debit until the bank confirms it days later. Returns undefined if the charge
 * failed at once. Throws `InvalidPayload` if the product is missing or the charge belongs to another app.
 *
 * @see https://docs.stripe.com/payments/place-a-hold-on-a-payment-method
 * @see https://docs.stripe.com/payments/payment-methods#payment-notification
 */
export function toChargeObservation(
  charge: Charge,
  { mapping, reversals, countries, products }: SaleContext,
): Observation | undefined {
  requireOwnApp(mapping, charge.metadata);
  const productId = getChargedProductId(charge);
  if (productId === undefined) {
    throw new ServiceError('InvalidPayload', 'metadata.productId of the charge is missing.');
  }
  const hasFailed = charge.status === 'failed' || (!charge.paid && charge.status !== 'pending');
  if (hasFailed && charge.failure_balance_transaction === null) return undefined;
  const isCaptured = charge.captured !== false && charge.status !== 'pending' && !hasFailed;
  const isAbandoned = hasFailed || charge.refunded;
  const { purchase, transaction } = toOneTimePurchase(
    {
      ...charge,
      created: charge.created ?? 0,
      tax: 0,
      id: charge.payment_intent ?? charge.id,
      transactionId: charge.id,
      reversals: isCaptured ? reversals.get(charge.id) : undefined,
      country: countries.get(charge.id),
    },
    { productId, quantity: 1, product: products.get(productId) },
    mapping,
  );
  return {
    asOf: mapping.now,
    purchase: { ...purchase, ...(!isCaptured && (isAbandoned ? { isAbandoned: true } : { isPending: true })) },
    transactions: isCaptured ? [transaction] : [],
    userAliases: readUserAliases(charge.metadata),
    ...readCheckoutUser(mapping, charge.metadata),
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
  /** Tax within the amount. */
  readonly tax: number;
  readonly reversals: PaymentReversals | undefined;
  /** Country of the customer, in two letters. */
  readonly country: string | undefined;
  readonly isDiscounted?: boolean;
}

function toOneTimePurchase(
  payment: Payment,
  { productId, price, quantity, product }: SoldItem,
  mapping: MappingContext,
) {
  const { platform } = mapping;
  const end = payment.reversals?.end;
  const common = {
    purchaseId: withPlatform(platform, payment.id),
    transactionId: withPlatform(platform, payment.transactionId),
    productId: withPlatform(platform, productId),
    platform,
    sandbox: !payment.livemode,
    purchaseDate: toMillis(payment.created),
    ...(payment.currency && {
      currency: toCurrencyCode(payment.currency),
      amountMicros: toMicros(payment.amount, payment.currency),
    }),
    quantity,
    ...(price && { offerId: toOfferId(mapping, productId, price.id) }),
  };
  const purchase: Purchase = {
    ...common,
    productType: toProductType(product, price),
    ...(end && { endedAt: end.at, cancelationReason: end.kind === 'refund' ? 'Customer' : 'System' }),
  };
  const transaction: Transaction = {
    ...common,
    ...(payment.tax > 0 && { taxMicros: toMicros(payment.tax, payment.currency) }),
    ...omitUndefined({ storefront: payment.country, offerType: payment.isDiscounted ? 'discount' : undefined }),
    ...toRefundFields(payment.reversals),
  };
  return { purchase, transaction };
}

/** Returns the latest charge of a payment intent if it was expanded. */
export const getLatestCharge = (intent: PaymentIntent | undefined): Charge | undefined =>
  typeof intent?.latest_charge === 'object' ? (intent.latest_charge ?? undefined) : undefined;

const toDiscountId = ({ discounts }: Session) =>
  omitNullish({ discountId: discounts[0]?.promotion_code ?? discounts[0]?.coupon });
