import type { Observation } from '../../purchases/observation.ts';
import { ServiceError } from '../../shared/errors.ts';
import { getSubscriptionId } from './invoices.ts';
import { isOwnMetadata } from './mapping-context.ts';
import { type Charge, Invoice, PaymentIntent, parseStripeObject, type Session } from './payloads.ts';
import {
  getChargedProductId,
  getLatestCharge,
  getPriceProductId,
  toChargeObservation,
  toPaymentObservation,
} from './payment-observation.ts';
import { indexReversals, type PaymentReversals } from './payment-reversals.ts';
import type { StripeAccount } from './stripe-account.ts';
import {
  completeRefunds,
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

/**
 * Fetches the purchase behind the id of a subscription, checkout session, payment intent, charge or invoice. Returns
 * undefined if it was never paid. Throws `InvalidPayload` for the id of any other object.
 */
export async function fetchObservation(id: string, account: StripeAccount): Promise<Observation | undefined> {
  const prefix = /^([a-z]+)_[A-Za-z0-9_]{1,200}$/.exec(id)?.[1];
  switch (prefix) {
    case 'sub':
      return await fetchSubscriptionObservation(id, account);
    case 'cs':
      return await fetchSessionObservation(await fetchSession(account.stripe, id), account);
    case 'pi':
      return await fetchIntentObservation(id, account);
    case 'ch':
    case 'py':
      return await fetchChargeObservation(await fetchCharge(account.stripe, id), account);
    case 'in':
      return await fetchInvoiceObservation(
        parseStripeObject(Invoice, await account.stripe.invoices.retrieve(id)),
        account,
      );
    default:
      throw new ServiceError(
        'InvalidPayload',
        'transaction.id must be the id of a charge, payment, session or subscription.',
      );
  }
}

async function fetchSubscriptionObservation(
  id: string,
  { stripe, mapping: context }: StripeAccount,
): Promise<Observation> {
  const [subscription, invoices] = await Promise.all([
    fetchSubscription(stripe, id),
    listInvoices(stripe, { subscription: id }),
  ]);
  const reversals = await fetchReversals(await listCharges(stripe, subscription.customer), stripe);
  return toSubscriptionObservation(subscription, { context, invoices, reversals });
}

async function fetchSessionObservation(session: Session, account: StripeAccount): Promise<Observation | undefined> {
  if (session.subscription !== null) return await fetchSubscriptionObservation(session.subscription, account);
  const [observation] = await toPaymentObservations([session], account);
  return observation;
}

async function fetchIntentObservation(id: string, account: StripeAccount): Promise<Observation | undefined> {
  const [session] = await listSessions(account.stripe, { payment_intent: id });
  if (session) return await fetchSessionObservation(session, account);
  const subscription = await findSubscriptionOfPayment(id, account);
  if (subscription !== undefined) return await fetchSubscriptionObservation(subscription, account);
  const expand = ['latest_charge.refunds'];
  const charge = getLatestCharge(
    parseStripeObject(PaymentIntent, await account.stripe.paymentIntents.retrieve(id, { expand })),
  );
  return charge && (await fetchStandaloneChargeObservation(charge, account));
}

async function fetchChargeObservation(charge: Charge, account: StripeAccount): Promise<Observation | undefined> {
  if (charge.payment_intent === null) return await fetchStandaloneChargeObservation(charge, account);
  return await fetchIntentObservation(charge.payment_intent, account);
}

async function fetchInvoiceObservation(invoice: Invoice, account: StripeAccount): Promise<Observation> {
  const subscription = getSubscriptionId(invoice);
  if (subscription === undefined) {
    throw new ServiceError('InvalidPayload', 'The invoice does not belong to a subscription.');
  }
  return await fetchSubscriptionObservation(subscription, account);
}

/**
 * Finds the subscription whose invoice a payment intent paid. Payment intents do not refer to their invoice.
 *
 * @see https://docs.stripe.com/api/invoice-payment
 */
async function findSubscriptionOfPayment(id: string, { stripe }: StripeAccount): Promise<string | undefined> {
  const { data } = await stripe.invoicePayments.list({
    payment: { type: 'payment_intent', payment_intent: id },
    limit: 1,
    expand: ['data.invoice'],
  });
  const [payment] = data;
  return payment && getSubscriptionId(parseStripeObject(Invoice, payment.invoice));
}

async function fetchStandaloneChargeObservation(
  charge: Charge,
  { stripe, mapping: context }: StripeAccount,
): Promise<Observation | undefined> {
  const productId = getChargedProductId(charge);
  const [products, reversals] = await Promise.all([
    listProducts(stripe, productId === undefined ? [] : [productId]),
    fetchReversals([charge], stripe),
  ]);
  return toChargeObservation(charge, { context, reversals, products });
}

/** Fetches the refunds and disputes of charges, by charge id and payment intent id. */
async function fetchReversals(
  charges: readonly Charge[],
  stripe: StripeAccount['stripe'],
): Promise<ReadonlyMap<string, PaymentReversals>> {
  const [completeCharges, disputes] = await Promise.all([
    completeRefunds(stripe, charges),
    listDisputes(stripe, charges),
  ]);
  return indexReversals(completeCharges, disputes);
}

/** Fetches the observations of all purchases that a customer made in the app. */
export async function fetchCustomerObservations(customer: string, account: StripeAccount): Promise<Observation[]> {
  const { stripe, mapping: context } = account;
  const [subscriptions, invoices, charges, sessions] = await Promise.all([
    listSubscriptions(stripe, customer),
    listInvoices(stripe, { customer }),
    listCharges(stripe, customer),
    listSessions(stripe, { customer }),
  ]);
  const reversals = await fetchReversals(charges, stripe);
  const ownSubscriptions = subscriptions.filter(({ metadata }) => isOwnMetadata(context, metadata));
  const ownPayments = sessions.filter(({ mode, metadata }) => mode === 'payment' && isOwnMetadata(context, metadata));
  return [
    ...ownSubscriptions.map((subscription) => {
      const ownInvoices = invoices.filter((invoice) => getSubscriptionId(invoice) === subscription.id);
      return toSubscriptionObservation(subscription, { context, invoices: ownInvoices, reversals });
    }),
    ...(await toPaymentObservations(ownPayments, account)),
  ];
}

async function toPaymentObservations(
  sessions: readonly Session[],
  { stripe, mapping: context }: StripeAccount,
): Promise<Observation[]> {
  const charges = sessions.flatMap(({ payment_intent: intent }) =>
    typeof intent === 'string' ? [] : (getLatestCharge(intent ?? undefined) ?? []),
  );
  const productIds = sessions.flatMap(({ line_items }) =>
    (line_items?.data ?? []).flatMap(({ price }) => (price === null ? [] : [getPriceProductId(price)])),
  );
  const [products, reversals] = await Promise.all([listProducts(stripe, productIds), fetchReversals(charges, stripe)]);
  return sessions.flatMap((session) => toPaymentObservation(session, { context, reversals, products }) ?? []);
}
