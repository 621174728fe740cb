import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { ServiceError } from '../../shared/errors.ts';
import { withPlatform } from '../../shared/platform.ts';
import { omitNullish, toMillis } from './convert.ts';
import { type MappingContext, readUserAliases, requireOwnApp, toOfferId } from './mapping-context.ts';
import { toCurrencyCode, toMicros } from './money.ts';
import type { Charge, Dispute, PaymentIntent, Price, Product, Session } from './payloads.ts';
import { findReversal } from './payment-reversals.ts';
import { toProductType } from './product-type.ts';

interface SaleContext {
  readonly origin: MappingContext;
  readonly disputes: readonly Dispute[];
  /** The products of the line items, by id. */
  readonly products: ReadonlyMap<string, Product>;
}

/**
 * What the processor says of a one-off sale through a checkout session that is complete; undefined while it is not, or
 * when the payment never came. Throws `InvalidPayload` for one of another application.
 */
export function toPaymentObservation(
  session: Session,
  { origin: context, disputes, products }: SaleContext,
): Observation | undefined {
  const intent = typeof session.payment_intent === 'string' ? undefined : (session.payment_intent ?? undefined);
  requireOwnApp(context, session.metadata);
  const [line] = session.line_items?.data ?? [];
  if (session.status !== 'complete' || intent?.status === 'canceled') return undefined;
  if (!line?.price) throw new ServiceError('InvalidPayload', 'The session does not say which product was sold.');
  const productId = getId(line.price.product);
  const bought = { productId, offer: line.price, quantity: line.quantity ?? 1, product: products.get(productId) };
  const { purchase, transaction } = toSale(session, intent, { origin: context, disputes, bought });
  const isPending = session.payment_status === 'unpaid';
  return {
    asOf: context.now,
    purchase: { ...purchase, ...(isPending && { isPending }), ...toDiscountId(session) },
    transactions: isPending ? [] : [transaction],
    userAliases: session.client_reference_id ? [session.client_reference_id] : readUserAliases(session.metadata),
    refreshToken: { id: session.id, ...(session.customer && { customer: session.customer }) },
  };
}

interface SoldItem {
  readonly productId: string;
  readonly offer?: Price;
  readonly quantity: number;
  readonly product: Product | undefined;
}

function toSale(
  session: Session,
  intent: PaymentIntent | undefined,
  { origin: context, disputes, bought }: { origin: MappingContext; disputes: readonly Dispute[]; bought: SoldItem },
) {
  const charge = getLatestCharge(intent);
  return toOneTimePurchase(
    {
      id: intent?.id ?? session.id,
      transactionId: charge?.id ?? intent?.id ?? session.id,
      created: charge?.created ?? intent?.created ?? session.created,
      livemode: session.livemode,
      currency: intent?.currency ?? session.currency ?? '',
      amount: intent?.amount_received ?? session.amount_total ?? 0,
      takeback: charge && findReversal(charge, disputes),
    },
    bought,
    context,
  );
}

/** What the processor says of a charge made without a checkout session, whose seller wrote the product into `metadata`. */
export function toChargeObservation(
  charge: Charge,
  { origin: context, disputes, products }: SaleContext,
): Observation | undefined {
  requireOwnApp(context, charge.metadata);
  const productId = getChargedProductId(charge);
  if (productId === undefined) {
    throw new ServiceError('InvalidPayload', 'The charge does not say which product was sold.');
  }
  if (!charge.paid) return undefined;
  const { purchase, transaction } = toOneTimePurchase(
    {
      ...charge,
      id: charge.payment_intent ?? charge.id,
      transactionId: charge.id,
      takeback: findReversal(charge, disputes),
    },
    { productId, quantity: 1, product: products.get(productId) },
    context,
  );
  return {
    asOf: context.now,
    purchase,
    transactions: [transaction],
    userAliases: readUserAliases(charge.metadata),
    refreshToken: { id: charge.id },
  };
}

/** The product that a charge was for, by its own word. */
export const getChargedProductId = ({ metadata }: Charge): string | undefined =>
  metadata?.productId ?? metadata?.product_id;

interface Payment {
  readonly id: string;
  readonly transactionId: string;
  readonly created: number;
  readonly livemode: boolean;
  readonly currency: string;
  readonly amount: number;
  readonly takeback: ReturnType<typeof findReversal>;
}

function toOneTimePurchase(
  payment: Payment,
  { productId, offer, quantity, product }: SoldItem,
  context: MappingContext,
) {
  const { platform } = context;
  const { takeback } = payment;
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
    ...(offer && { offerId: toOfferId(context, productId, offer.id) }),
  };
  const purchase: Purchase = {
    ...common,
    productType: toProductType(product, offer),
    ...(takeback && { endedAt: takeback.at, cancelationReason: takeback.kind === 'refund' ? 'Customer' : 'System' }),
  };
  const transaction: Transaction = { ...common, ...(takeback && { refundedAt: takeback.at }) };
  return { purchase, transaction };
}

/** The charge that paid, when it came along. */
export const getLatestCharge = (intent: PaymentIntent | undefined): Charge | undefined =>
  typeof intent?.latest_charge === 'object' ? (intent.latest_charge ?? undefined) : undefined;

const getId = (product: Price['product']): string => (typeof product === 'string' ? product : product.id);

const toDiscountId = ({ discounts }: Session) =>
  omitNullish({ discountId: discounts?.[0]?.promotion_code ?? discounts?.[0]?.coupon });
