import type Stripe from 'stripe';
import type { Observation } from '../../purchases/observation.ts';
import { ServiceError } from '../../shared/errors.ts';
import { getSubscriptionId } from './invoices.ts';
import type { MappingContext } from './mapping-context.ts';
import { type Charge, Invoice, PaymentIntent, parseStripeObject, type Session } from './payloads.ts';
import {
  getChargedProductId,
  getLatestCharge,
  toChargeObservation,
  toPaymentObservation,
} from './payment-observation.ts';
import { indexReversals } from './payment-reversals.ts';
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

/** The account that is asked, and whose look it is. */
export interface StripeAccount {
  readonly stripe: Stripe;
  readonly mapping: MappingContext;
}

/**
 * What the processor says of the purchase behind a subscription, session, payment intent, charge or invoice; undefined
 * when it was never paid. Throws `InvalidPayload` for any other id.
 */
export async function fetchObservation(id: string, account: StripeAccount): Promise<Observation | undefined> {
  const kind = /^([a-z]+)_[A-Za-z0-9_]{1,200}$/.exec(id)?.[1];
  switch (kind) {
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
        'transaction.id: expected the id of a charge, payment, session or subscription.',
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
  const charges = await listCharges(stripe, subscription.customer);
  const takebacks = indexReversals(charges, await listDisputes(stripe, charges));
  return toSubscriptionObservation(subscription, { origin: context, invoices, takebacks });
}

async function fetchSessionObservation(session: Session, account: StripeAccount): Promise<Observation | undefined> {
  if (session.subscription !== null) return await fetchSubscriptionObservation(session.subscription, account);
  const [seen] = await toPaymentObservations([session], account);
  return seen;
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
  return charge && (await fetchBareChargeObservation(charge, account));
}

async function fetchChargeObservation(charge: Charge, account: StripeAccount): Promise<Observation | undefined> {
  if (charge.payment_intent === null) return await fetchBareChargeObservation(charge, account);
  return await fetchIntentObservation(charge.payment_intent, account);
}

async function fetchInvoiceObservation(invoice: Invoice, account: StripeAccount): Promise<Observation> {
  const subscription = getSubscriptionId(invoice);
  if (subscription === undefined) throw new ServiceError('InvalidPayload', 'The invoice is for no subscription.');
  return await fetchSubscriptionObservation(subscription, account);
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
  { stripe, mapping: context }: StripeAccount,
): Promise<Observation | undefined> {
  const productId = getChargedProductId(charge);
  const products = await listProducts(stripe, productId === undefined ? [] : [productId]);
  return toChargeObservation(charge, { origin: context, disputes: await listDisputes(stripe, [charge]), products });
}

/** What the processor says of everything that a customer ever bought from the application. */
export async function fetchCustomerObservations(customer: string, account: StripeAccount): Promise<Observation[]> {
  const { stripe, mapping: context } = account;
  const [subscriptions, invoices, charges, sessions] = await Promise.all([
    listSubscriptions(stripe, customer),
    listInvoices(stripe, { customer }),
    listCharges(stripe, customer),
    listSessions(stripe, { customer }),
  ]);
  const takebacks = indexReversals(charges, await listDisputes(stripe, charges));
  const own = subscriptions.filter(({ metadata }) => metadata?.app === undefined || metadata.app === context.appName);
  return [
    ...own.map((subscription) => {
      const bills = invoices.filter((invoice) => getSubscriptionId(invoice) === subscription.id);
      return toSubscriptionObservation(subscription, { origin: context, invoices: bills, takebacks });
    }),
    ...(await toPaymentObservations(sessions.filter(isAppPayment(context)), account)),
  ];
}

const isAppPayment =
  ({ appName }: MappingContext) =>
  ({ mode, metadata }: Session): boolean =>
    mode === 'payment' && (metadata?.app === undefined || metadata.app === appName);

async function toPaymentObservations(
  sessions: readonly Session[],
  { stripe, mapping: context }: StripeAccount,
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
  return sessions.flatMap((session) => toPaymentObservation(session, { origin: context, disputes, products }) ?? []);
}
