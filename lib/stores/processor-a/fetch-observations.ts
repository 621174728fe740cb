import type Stripe from 'stripe';
import { ServiceError } from '../../shared/errors.ts';
import type { Observation } from '../../purchases/observation.ts';
import { getSubscriptionId } from './invoices.ts';
import { type Charge, Invoice, PaymentIntent, parseStripeObject, type Session } from './payloads.ts';
import type { MappingContext } from './mapping-context.ts';
import { getChargedProductId, getLatestCharge, toChargeObservation, toPaymentObservation } from './payment-observation.ts';
import {
  fetchCharge,
  fetchSession,
  fetchSubscription,
  listCharges,
  listDisputes,
  listInvoices,
  listProducts,
  listSessions,
  listSubscriptions,
} from './stripe-queries.ts';
import { toSubscriptionObservation } from './subscription-observation.ts';
import { indexReversals } from './payment-reversals.ts';

/** The account that is asked, and whose look it is. */
export interface StripeAccount {
  readonly stripe: Stripe;
  readonly mapping: MappingContext;
}

/**
 * What the processor says of the purchase behind a subscription, session, payment intent, charge or invoice; undefined
 * when it was never paid. Throws `InvalidPayload` for any other id.
 */
export async function fetchObservation(id: string, look: StripeAccount): Promise<Observation | undefined> {
  const kind = /^([a-z]+)_[A-Za-z0-9_]{1,200}$/.exec(id)?.[1];
  switch (kind) {
    case 'sub':
      return await fetchSubscriptionObservation(id, look);
    case 'cs':
      return await fetchSessionObservation(await fetchSession(look.stripe, id), look);
    case 'pi':
      return await fetchIntentObservation(id, look);
    case 'ch':
    case 'py':
      return await fetchChargeObservation(await fetchCharge(look.stripe, id), look);
    case 'in':
      return await fetchInvoiceObservation(parseStripeObject(Invoice, await look.stripe.invoices.retrieve(id)), look);
    default:
      throw new ServiceError(
        'InvalidPayload',
        'transaction.id: expected the id of a charge, payment, session or subscription.',
      );
  }
}

async function fetchSubscriptionObservation(
  id: string,
  { stripe, mapping: origin }: StripeAccount,
): Promise<Observation> {
  const [subscription, invoices] = await Promise.all([
    fetchSubscription(stripe, id),
    listInvoices(stripe, { subscription: id }),
  ]);
  const charges = await listCharges(stripe, subscription.customer);
  const takebacks = indexReversals(charges, await listDisputes(stripe, charges));
  return toSubscriptionObservation(subscription, { origin, invoices, takebacks });
}

async function fetchSessionObservation(session: Session, look: StripeAccount): Promise<Observation | undefined> {
  if (session.subscription !== null) return await fetchSubscriptionObservation(session.subscription, look);
  const [seen] = await toPaymentObservations([session], look);
  return seen;
}

async function fetchIntentObservation(id: string, look: StripeAccount): Promise<Observation | undefined> {
  const [session] = await listSessions(look.stripe, { payment_intent: id });
  if (session) return await fetchSessionObservation(session, look);
  const subscription = await findSubscriptionOfPayment(id, look);
  if (subscription !== undefined) return await fetchSubscriptionObservation(subscription, look);
  const expand = ['latest_charge.refunds'];
  const charge = getLatestCharge(
    parseStripeObject(PaymentIntent, await look.stripe.paymentIntents.retrieve(id, { expand })),
  );
  return charge && (await fetchBareChargeObservation(charge, look));
}

async function fetchChargeObservation(charge: Charge, look: StripeAccount): Promise<Observation | undefined> {
  if (charge.payment_intent === null) return await fetchBareChargeObservation(charge, look);
  return await fetchIntentObservation(charge.payment_intent, look);
}

async function fetchInvoiceObservation(invoice: Invoice, look: StripeAccount): Promise<Observation> {
  const subscription = getSubscriptionId(invoice);
  if (subscription === undefined) throw new ServiceError('InvalidPayload', 'The invoice is for no subscription.');
  return await fetchSubscriptionObservation(subscription, look);
}

/** The subscription whose invoice the payment paid; a payment itself does not say. */
async function findSubscriptionOfPayment(id: string, { stripe }: StripeAccount): Promise<string | undefined> {
  const { data } = await stripe.invoicePayments.list({
    payment: { type: 'payment_intent', payment_intent: id },
    limit: 1,
    expand: ['data.invoice'],
  });
  const [payment] = data;
  return payment && getSubscriptionId(parseStripeObject(Invoice, payment.invoice));
}

async function fetchBareChargeObservation(
  charge: Charge,
  { stripe, mapping: origin }: StripeAccount,
): Promise<Observation | undefined> {
  const productId = getChargedProductId(charge);
  const products = await listProducts(stripe, productId === undefined ? [] : [productId]);
  return toChargeObservation(charge, { origin, disputes: await listDisputes(stripe, [charge]), products });
}

/** What the processor says of everything that a customer ever bought from the application. */
export async function fetchCustomerObservations(customer: string, look: StripeAccount): Promise<Observation[]> {
  const { stripe, mapping: origin } = look;
  const [subscriptions, invoices, charges, sessions] = await Promise.all([
    listSubscriptions(stripe, customer),
    listInvoices(stripe, { customer }),
    listCharges(stripe, customer),
    listSessions(stripe, { customer }),
  ]);
  const takebacks = indexReversals(charges, await listDisputes(stripe, charges));
  const own = subscriptions.filter(({ metadata }) => metadata?.app === undefined || metadata.app === origin.app);
  return [
    ...own.map((subscription) => {
      const bills = invoices.filter((invoice) => getSubscriptionId(invoice) === subscription.id);
      return toSubscriptionObservation(subscription, { origin, invoices: bills, takebacks });
    }),
    ...(await toPaymentObservations(sessions.filter(isAppPayment(origin)), look)),
  ];
}

const isAppPayment =
  ({ app }: MappingContext) =>
  ({ mode, metadata }: Session): boolean =>
    mode === 'payment' && (metadata?.app === undefined || metadata.app === app);

async function toPaymentObservations(
  sessions: readonly Session[],
  { stripe, mapping: origin }: StripeAccount,
): Promise<Observation[]> {
  const charges = sessions.flatMap(({ payment_intent: intent }) =>
    typeof intent === 'string' ? [] : (getLatestCharge(intent ?? undefined) ?? []),
  );
  const ids = sessions.flatMap(({ line_items }) =>
    (line_items?.data ?? []).flatMap(({ price }) =>
      price === null ? [] : [typeof price.product === 'string' ? price.product : price.product.id],
    ),
  );
  const [products, disputes] = await Promise.all([listProducts(stripe, ids), listDisputes(stripe, charges)]);
  return sessions.flatMap((session) => toPaymentObservation(session, { origin, disputes, products }) ?? []);
}
