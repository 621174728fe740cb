import pMap from 'p-map';
import { ServiceError } from '../../foundation/errors.ts';
import type { Observation } from '../../purchases/observation.ts';
import { getSubscriptionId } from './invoices.ts';
import { getPriceProductId, isOwnMetadata, requireOwnApp } from './mapping-context.ts';
import type { Charge, Invoice, Session, Subscription } from './payloads.ts';
import {
  getChargedProductId,
  getLatestCharge,
  getPaymentId,
  readSessionAliases,
  toChargeObservation,
  toPaymentObservations,
} from './payment-observation.ts';
import { type ChargeIndex, indexCharges } from './payment-reversals.ts';
import { listProratedPriceIds } from './plan-price.ts';
import type { StripeAccount } from './stripe-account.ts';
import {
  fetchCharge,
  fetchFailureDates,
  fetchInvoice,
  fetchPaymentIntent,
  fetchPrices,
  fetchSession,
  fetchSubscription,
  findChargedSubscription,
  listCharges,
  listCreditNotes,
  listDisputes,
  listInvoices,
  listPaidSubscriptions,
  listPaymentRecords,
  listProducts,
  listSessions,
  listSubscriptions,
} from './stripe-queries.ts';
import { hasSeveralItems } from './subscription-items.ts';
import { toSubscriptionObservations } from './subscription-observation.ts';
import { listTrialPriceIds } from './trials.ts';

/**
 * Fetches the purchases behind the id of a subscription, checkout session, payment intent, charge or invoice, or of one
 * of their items (`sub_…:si_…`). Returns an empty array if it was never paid. Throws `InvalidPayload` for the id of any
 * other object.
 */
export async function fetchObservations(id: string, account: StripeAccount): Promise<Observation[]> {
  const [, objectId = '', prefix] = /^(([a-z]+)_[A-Za-z0-9_]{1,200})(?::\w{1,200})?$/.exec(id) ?? [];
  switch (prefix) {
    case 'sub':
      return await fetchSubscriptionObservations(objectId, account);
    case 'cs':
      return await fetchSessionObservations(await fetchSession(account.stripe, objectId), account);
    case 'pi':
      return await fetchIntentObservations(objectId, account);
    case 'ch':
    case 'py':
      return await fetchChargeObservations(await fetchCharge(account.stripe, objectId), account);
    case 'in':
      return await fetchInvoiceObservations(objectId, account);
    default:
      throw new ServiceError(
        'InvalidPayload',
        'transaction.id must be the id of a charge, payment, session or subscription.',
      );
  }
}

async function fetchSubscriptionObservations(id: string, account: StripeAccount): Promise<Observation[]> {
  const { stripe } = account;
  const [subscription, invoices] = await Promise.all([
    fetchSubscription(stripe, id),
    listInvoices(stripe, { subscription: id }),
  ]);
  const charges = subscription.customer === null ? [] : await listCharges(stripe, subscription.customer);
  const index = await fetchChargeIndex(charges, stripe, invoices);
  return await mapSubscription(subscription, { invoices, ...index }, account);
}

/** Maps a subscription. The stored purchase decides which of several items is the main one. */
async function mapSubscription(
  subscription: Subscription,
  billing: ChargeIndex & { readonly invoices: readonly Invoice[] },
  account: StripeAccount,
): Promise<Observation[]> {
  const mainProductId = hasSeveralItems(subscription, billing.invoices)
    ? await account.findStoredProductId(subscription.id)
    : undefined;
  const { invoices } = billing;
  const ids = [...listTrialPriceIds(subscription, invoices), ...listProratedPriceIds(subscription, invoices)];
  const mapping = { ...account.mapping, pastPrices: await fetchPrices(account.stripe, [...new Set(ids)]) };
  return toSubscriptionObservations(subscription, { ...billing, mapping, mainProductId });
}

/**
 * A subscription whose metadata does not name the user is of the one whom the session names: the buyer of a payment
 * link or a pricing table.
 *
 * @see https://docs.stripe.com/payment-links/url-parameters
 */
async function fetchSessionObservations(session: Session, account: StripeAccount): Promise<Observation[]> {
  if (session.subscription === null) return await mapSessions([session], account);
  requireOwnApp(account.mapping, session.metadata);
  const sessionAliases = readSessionAliases(session);
  return (await fetchSubscriptionObservations(session.subscription, account)).map((observation) =>
    observation.userAliases.length > 0 ? observation : { ...observation, userAliases: sessionAliases },
  );
}

async function fetchIntentObservations(id: string, account: StripeAccount): Promise<Observation[]> {
  const [session] = await listSessions(account.stripe, { payment_intent: id });
  if (session) return await fetchSessionObservations(session, account);
  const subscriptions = await listPaidSubscriptions(account.stripe, id);
  if (subscriptions.length > 0) {
    const fetchOne = (subscription: string) => fetchSubscriptionObservations(subscription, account);
    return (await pMap(subscriptions, fetchOne, { concurrency: 2 })).flat();
  }
  const charge = getLatestCharge(await fetchPaymentIntent(account.stripe, id));
  return charge ? await fetchStandaloneChargeObservations(charge, account) : [];
}

async function fetchChargeObservations(charge: Charge, account: StripeAccount): Promise<Observation[]> {
  if (charge.payment_intent !== null) return await fetchIntentObservations(charge.payment_intent, account);
  const isSold = getChargedProductId(charge) !== undefined;
  const subscription = isSold ? undefined : await findChargedSubscription(account.stripe, charge);
  if (subscription !== undefined) return await fetchSubscriptionObservations(subscription, account);
  return await fetchStandaloneChargeObservations(charge, account);
}

async function fetchInvoiceObservations(id: string, account: StripeAccount): Promise<Observation[]> {
  const invoice = await fetchInvoice(account.stripe, id);
  const subscription = getSubscriptionId(invoice);
  if (subscription !== undefined) return await fetchSubscriptionObservations(subscription, account);
  const [intent] = invoice.payments.data.flatMap(({ payment }) => payment.payment_intent ?? []);
  const [session] = intent === undefined ? [] : await listSessions(account.stripe, { payment_intent: intent });
  if (session) return await mapSessions([session], account);
  throw new ServiceError('InvalidPayload', 'The invoice belongs neither to a subscription nor to a checkout session.');
}

async function fetchStandaloneChargeObservations(
  charge: Charge,
  { stripe, mapping }: StripeAccount,
): Promise<Observation[]> {
  const productId = getChargedProductId(charge);
  const [products, index] = await Promise.all([
    listProducts(stripe, productId === undefined ? [] : [productId]),
    fetchChargeIndex([charge], stripe),
  ]);
  const observation = toChargeObservation(charge, { mapping, ...index, products });
  return observation ? [observation] : [];
}

/** Indexes charges with their disputes, dates of failures and refunds outside of Stripe, which it fetches. */
async function fetchChargeIndex(
  charges: readonly Charge[],
  stripe: StripeAccount['stripe'],
  invoices: readonly Invoice[] = [],
): Promise<ChargeIndex> {
  const [disputes, failureDates, creditNotes, paymentRecords] = await Promise.all([
    listDisputes(stripe, charges),
    fetchFailureDates(stripe, charges),
    listCreditNotes(stripe, invoices),
    listPaymentRecords(stripe, invoices),
  ]);
  return indexCharges(charges, { disputes, failureDates, creditNotes, paymentRecords });
}

/** Fetches the observations of all purchases that a customer made in the app. */
export async function fetchCustomerObservations(customer: string, account: StripeAccount): Promise<Observation[]> {
  const { stripe, mapping } = account;
  const [subscriptions, invoices, charges, sessions] = await Promise.all([
    listSubscriptions(stripe, customer),
    listInvoices(stripe, { customer }),
    listCharges(stripe, customer),
    listSessions(stripe, { customer }),
  ]);
  const index = await fetchChargeIndex(charges, stripe, invoices);
  const ownSubscriptions = subscriptions.filter(({ metadata }) => isOwnMetadata(mapping, metadata));
  const ownPayments = sessions.filter(({ mode, metadata }) => mode === 'payment' && isOwnMetadata(mapping, metadata));
  const bySubscription = ownSubscriptions.map(async (subscription) => {
    const ownInvoices = invoices.filter((invoice) => getSubscriptionId(invoice) === subscription.id);
    return await mapSubscription(subscription, { invoices: ownInvoices, ...index }, account);
  });
  return [...(await Promise.all(bySubscription)).flat(), ...(await mapSessions(ownPayments, account))];
}

async function mapSessions(sessions: readonly Session[], account: StripeAccount): Promise<Observation[]> {
  const { stripe, mapping } = account;
  const charges = sessions.flatMap(({ payment_intent: intent }) =>
    typeof intent === 'string' ? [] : (getLatestCharge(intent ?? undefined) ?? []),
  );
  const productIds = sessions.flatMap(({ line_items }) =>
    (line_items?.data ?? []).flatMap(({ price }) => (price === null ? [] : [getPriceProductId(price)])),
  );
  const invoices = sessions.flatMap(({ invoice }) => (typeof invoice === 'string' ? [] : (invoice ?? [])));
  const [products, index] = await Promise.all([
    listProducts(stripe, productIds),
    fetchChargeIndex(charges, stripe, invoices),
  ]);
  const observations = sessions.map(async (session) => {
    const hasSeveralLines = (session.line_items?.data ?? []).length > 1;
    const mainProductId = hasSeveralLines ? await account.findStoredProductId(getPaymentId(session)) : undefined;
    return toPaymentObservations(session, { mapping, ...index, products, mainProductId });
  });
  return (await Promise.all(observations)).flat();
}
