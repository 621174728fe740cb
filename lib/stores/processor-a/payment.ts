import { ServiceError } from '../../errors.ts';
import type { Observation } from '../../purchases/observation.ts';
import { prefixed } from '../../purchases/platform.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../transactions/transaction.ts';
import { defined, millis } from './defined.ts';
import { currencyOf, microsOf } from './money.ts';
import type { Charge, Dispute, PaymentIntent, Price, Product, Session } from './objects.ts';
import { checkApp, type Origin, offerIdOf, usersIn } from './origin.ts';
import { productTypeOf } from './product-type.ts';
import { takebackOf } from './takebacks.ts';

interface Sold {
  readonly origin: Origin;
  readonly disputes: readonly Dispute[];
  /** The products of the line items, by id. */
  readonly products: ReadonlyMap<string, Product>;
}

/**
 * What the processor says of a one-off sale through a checkout session that is complete; undefined while it is not, or
 * when the payment never came. Throws `InvalidPayload` for one of another application.
 */
export function seenPayment(session: Session, { origin, disputes, products }: Sold): Observation | undefined {
  const intent = typeof session.payment_intent === 'string' ? undefined : (session.payment_intent ?? undefined);
  checkApp(origin, session.metadata);
  const [line] = session.line_items?.data ?? [];
  if (session.status !== 'complete' || intent?.status === 'canceled') return undefined;
  if (!line?.price) throw new ServiceError('InvalidPayload', 'The session does not say which product was sold.');
  const productId = idOf(line.price.product);
  const bought = { productId, offer: line.price, quantity: line.quantity ?? 1, product: products.get(productId) };
  const { purchase, transaction } = sale(session, intent, { origin, disputes, bought });
  const isPending = session.payment_status === 'unpaid';
  return {
    asOf: origin.now,
    purchase: { ...purchase, ...(isPending && { isPending }), ...discountOf(session) },
    transactions: isPending ? [] : [transaction],
    userTokens: session.client_reference_id ? [session.client_reference_id] : usersIn(session.metadata),
    refreshToken: { id: session.id, ...(session.customer && { customer: session.customer }) },
  };
}

interface Bought {
  readonly productId: string;
  readonly offer?: Price;
  readonly quantity: number;
  readonly product: Product | undefined;
}

function sale(
  session: Session,
  intent: PaymentIntent | undefined,
  { origin, disputes, bought }: { origin: Origin; disputes: readonly Dispute[]; bought: Bought },
) {
  const charge = chargeOf(intent);
  return oneOff(
    {
      id: intent?.id ?? session.id,
      transactionId: charge?.id ?? intent?.id ?? session.id,
      created: charge?.created ?? intent?.created ?? session.created,
      livemode: session.livemode,
      currency: intent?.currency ?? session.currency ?? '',
      amount: intent?.amount_received ?? session.amount_total ?? 0,
      takeback: charge && takebackOf(charge, disputes),
    },
    bought,
    origin,
  );
}

/** What the processor says of a charge made without a checkout session, whose seller wrote the product into `metadata`. */
export function seenCharge(charge: Charge, { origin, disputes, products }: Sold): Observation | undefined {
  checkApp(origin, charge.metadata);
  const productId = chargedProduct(charge);
  if (productId === undefined) {
    throw new ServiceError('InvalidPayload', 'The charge does not say which product was sold.');
  }
  if (!charge.paid) return undefined;
  const { purchase, transaction } = oneOff(
    {
      ...charge,
      id: charge.payment_intent ?? charge.id,
      transactionId: charge.id,
      takeback: takebackOf(charge, disputes),
    },
    { productId, quantity: 1, product: products.get(productId) },
    origin,
  );
  return {
    asOf: origin.now,
    purchase,
    transactions: [transaction],
    userTokens: usersIn(charge.metadata),
    refreshToken: { id: charge.id },
  };
}

/** The product that a charge was for, by its own word. */
export const chargedProduct = ({ metadata }: Charge): string | undefined => metadata?.productId ?? metadata?.product_id;

interface Payment {
  readonly id: string;
  readonly transactionId: string;
  readonly created: number;
  readonly livemode: boolean;
  readonly currency: string;
  readonly amount: number;
  readonly takeback: ReturnType<typeof takebackOf>;
}

function oneOff(payment: Payment, { productId, offer, quantity, product }: Bought, origin: Origin) {
  const { platform } = origin;
  const { takeback } = payment;
  const common = {
    purchaseId: prefixed(platform, payment.id),
    transactionId: prefixed(platform, payment.transactionId),
    productId: prefixed(platform, productId),
    platform,
    sandbox: !payment.livemode,
    purchaseDate: millis(payment.created),
    currency: currencyOf(payment.currency),
    amountMicros: microsOf(payment.amount, payment.currency),
    quantity,
    ...(offer && { offerId: offerIdOf(origin, productId, offer.id) }),
  };
  const purchase: Purchase = {
    ...common,
    productType: productTypeOf(product, offer),
    ...(takeback && { endedAt: takeback.at, cancelationReason: takeback.how === 'refund' ? 'Customer' : 'System' }),
  };
  const transaction: Transaction = { ...common, ...(takeback && { refundedAt: takeback.at }) };
  return { purchase, transaction };
}

/** The charge that paid, when it came along. */
export const chargeOf = (intent: PaymentIntent | undefined): Charge | undefined =>
  typeof intent?.latest_charge === 'object' ? (intent.latest_charge ?? undefined) : undefined;

const idOf = (product: Price['product']): string => (typeof product === 'string' ? product : product.id);

const discountOf = ({ discounts }: Session) =>
  defined({ discountId: discounts?.[0]?.promotion_code ?? discounts?.[0]?.coupon });
