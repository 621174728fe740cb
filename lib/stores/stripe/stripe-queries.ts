import pMap from 'p-map';
import Stripe from 'stripe';
import * as v from 'valibot';
import { splitIntoChunks } from '../../foundation/batches.ts';
import { findScheduledEnd } from './access-end.ts';
import { completeLists, concurrency, listAll, pageSize } from './complete-lists.ts';
import { getSubscriptionId } from './invoices.ts';
import {
  BalanceTransaction,
  Charge,
  CreditNote,
  Dispute,
  Invoice,
  InvoiceOwner,
  PaymentIntent,
  PaymentRecord,
  Price,
  Product,
  parseStripeObject,
  Session,
  Subscription,
  SubscriptionSchedule,
} from './payloads.ts';

/** @see https://docs.stripe.com/api/expanding_objects */
const subscriptionExpansions = ['latest_invoice', 'discounts.source.coupon', 'items.data.discounts'];
const sessionExpansions = ['line_items', 'payment_intent.latest_charge.refunds', 'invoice'];
const toListExpansions = (paths: readonly string[]): string[] => paths.map((path) => `data.${path}`);

/** Parses an object that Stripe returned, with all elements of the lists inside of it. */
const parseComplete = async <const S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  stripe: Stripe,
): Promise<v.InferOutput<S>> => parseStripeObject(schema, await completeLists(value, stripe));

/** Fetches a subscription with its latest invoice and coupons, and the end of its schedule. */
export async function fetchSubscription(stripe: Stripe, id: string): Promise<Subscription> {
  const subscription = await stripe.subscriptions.retrieve(id, { expand: subscriptionExpansions });
  return await addScheduledEnd(await parseComplete(Subscription, subscription, stripe), stripe);
}

/**
 * Adds the end that a schedule sets. Stripe does not document whether the subscription shows it. Queries no schedule
 * without need, and adds nothing if the key must not read it.
 */
async function addScheduledEnd(subscription: Subscription, stripe: Stripe): Promise<Subscription> {
  const { schedule: id, cancel_at, ended_at } = subscription;
  if (id === null || cancel_at !== null || ended_at !== null) return subscription;
  const schedule = await readIfPermitted(async () => await stripe.subscriptionSchedules.retrieve(id));
  if (!schedule) return subscription;
  return { ...subscription, cancel_at: findScheduledEnd(parseStripeObject(SubscriptionSchedule, schedule)) };
}

/** Lists the subscriptions of a customer, including the ended ones, with the ends of their schedules. */
export async function listSubscriptions(stripe: Stripe, customer: string): Promise<Subscription[]> {
  const expand = toListExpansions(subscriptionExpansions);
  const subscriptions = stripe.subscriptions.list({ customer, status: 'all', limit: pageSize, expand });
  const listed = await parseComplete(v.array(Subscription), await listAll(subscriptions), stripe);
  return await pMap(listed, (subscription) => addScheduledEnd(subscription, stripe), { concurrency });
}

/** Lists the invoices of a customer or a subscription in any state, with their payments. */
export async function listInvoices(
  stripe: Stripe,
  filter: { readonly customer: string } | { readonly subscription: string },
): Promise<Invoice[]> {
  const invoices = stripe.invoices.list({ ...filter, limit: pageSize, expand: ['data.payments'] });
  return await parseComplete(v.array(Invoice), await listAll(invoices), stripe);
}

/** Fetches an invoice with its payments. */
export const fetchInvoice = async (stripe: Stripe, id: string): Promise<Invoice> =>
  await parseComplete(Invoice, await stripe.invoices.retrieve(id, { expand: ['payments'] }), stripe);

/**
 * Lists the subscriptions whose invoices a payment intent paid. Payment intents do not refer to their invoices.
 *
 * @see https://docs.stripe.com/api/invoice-payment
 */
export async function listPaidSubscriptions(stripe: Stripe, payment_intent: string): Promise<string[]> {
  const payments = stripe.invoicePayments.list({
    payment: { type: 'payment_intent', payment_intent },
    limit: pageSize,
    expand: ['data.invoice'],
  });
  const owners = (await listAll(payments)).map(({ invoice }) => parseStripeObject(InvoiceOwner, invoice));
  return [...new Set(owners.flatMap((owner) => getSubscriptionId(owner) ?? []))];
}

/**
 * Finds the subscription whose invoice a charge paid without a payment intent, as before March 15, 2019. Neither refers
 * to the other, and payments of invoices cannot be listed by charge.
 *
 * @see https://docs.stripe.com/api/invoice-payment/object#invoice_payment_object-payment
 */
export async function findChargedSubscription(stripe: Stripe, { id, customer }: Charge): Promise<string | undefined> {
  const invoices = customer === null ? [] : await listInvoices(stripe, { customer });
  const paid = invoices.find(({ payments }) => payments.data.some(({ payment }) => payment.charge === id));
  return paid && getSubscriptionId(paid);
}

/** Fetches a payment intent with its latest charge. */
export async function fetchPaymentIntent(stripe: Stripe, id: string): Promise<PaymentIntent> {
  const expand = ['latest_charge.refunds'];
  return await parseComplete(PaymentIntent, await stripe.paymentIntents.retrieve(id, { expand }), stripe);
}

/** Lists the charges of a customer, also failed ones, with their refunds. */
export async function listCharges(stripe: Stripe, customer: string): Promise<Charge[]> {
  const charges = stripe.charges.list({ customer, limit: pageSize, expand: ['data.refunds'] });
  return await parseComplete(v.array(Charge), await listAll(charges), stripe);
}

/** Lists the disputes of the charges that are marked as disputed. */
export async function listDisputes(stripe: Stripe, charges: readonly Charge[]): Promise<Dispute[]> {
  const disputed = charges.filter((charge) => charge.disputed);
  const listByCharge = async ({ id }: Charge) => await listAll(stripe.disputes.list({ charge: id, limit: pageSize }));
  const lists = await pMap(disputed, listByCharge, { concurrency });
  return parseStripeObject(v.array(Dispute), lists.flat());
}

/**
 * Fetches the dates of debits that failed days after their creation, by charge id. Empty if the key must not read
 * balance transactions.
 *
 * @see https://docs.stripe.com/api/charges/object#charge_object-failure_balance_transaction
 */
export async function fetchFailureDates(
  stripe: Stripe,
  charges: readonly Charge[],
): Promise<ReadonlyMap<string, number>> {
  const failed = charges.flatMap(({ id, failure_balance_transaction: reversal }) =>
    reversal ? [{ id, reversal }] : [],
  );
  const fetchDate = async ({ id, reversal }: (typeof failed)[number]) => {
    const { created } = parseStripeObject(BalanceTransaction, await stripe.balanceTransactions.retrieve(reversal));
    return [id, created] as const;
  };
  return new Map((await readIfPermitted(() => pMap(failed, fetchDate, { concurrency }))) ?? []);
}

/** Lists the credit notes of the invoices that got some after their payment. Empty if the key must not read them. */
export async function listCreditNotes(stripe: Stripe, invoices: readonly Invoice[]): Promise<CreditNote[]> {
  const credited = invoices.filter(({ post_payment_credit_notes_amount: amount }) => (amount ?? 0) > 0);
  const listByInvoice = ({ id }: Invoice) => listAll(stripe.creditNotes.list({ invoice: id, limit: pageSize }));
  const lists = await readIfPermitted(() => pMap(credited, listByInvoice, { concurrency }));
  return parseStripeObject(v.array(CreditNote), (lists ?? []).flat());
}

/**
 * Fetches the records of the payments outside of Stripe that paid the invoices. They cannot be expanded: Stripe expands
 * four levels. Empty if the key must not read them.
 */
export async function listPaymentRecords(stripe: Stripe, invoices: readonly Invoice[]): Promise<PaymentRecord[]> {
  const payments = invoices.flatMap((invoice) => invoice.payments.data);
  const ids = new Set(payments.flatMap(({ payment }) => payment.payment_record ?? []));
  const fetchRecord = (id: string) => readIfPermitted(async () => await stripe.paymentRecords.retrieve(id));
  const records = await pMap(ids, fetchRecord, { concurrency });
  return parseStripeObject(
    v.array(PaymentRecord),
    records.filter((record) => record !== undefined),
  );
}

/**
 * Returns undefined if the restricted key lacks the permission, which is optional, or the account the object. Stripe
 * answers a wrong path or version like a missing object, but without its code.
 *
 * @see https://docs.stripe.com/error-codes#resource-missing
 * @see https://github.com/stripe/sync-engine-fork/pull/284
 */
async function readIfPermitted<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Stripe.errors.StripePermissionError || isMissing(error)) return undefined;
    throw error;
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_missing';

/**
 * Fetches prices by id, with their amounts in other currencies. A deleted price is omitted.
 *
 * @see https://docs.stripe.com/api/plans/delete
 */
export async function fetchPrices(stripe: Stripe, ids: readonly string[]): Promise<ReadonlyMap<string, Price>> {
  const fetchPrice = async (id: string) => {
    try {
      return parseStripeObject(Price, await stripe.prices.retrieve(id, { expand: ['currency_options'] }));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };
  const prices = await pMap(ids, fetchPrice, { concurrency });
  return new Map(prices.flatMap((price) => (price ? [[price.id, price]] : [])));
}

/** Fetches a checkout session with its line items and payment. */
export const fetchSession = async (stripe: Stripe, id: string): Promise<Session> =>
  await parseComplete(Session, await stripe.checkout.sessions.retrieve(id, { expand: sessionExpansions }), stripe);

/** Lists the complete checkout sessions of a customer or a payment intent. */
export async function listSessions(
  stripe: Stripe,
  filter: { readonly customer: string } | { readonly payment_intent: string },
): Promise<Session[]> {
  const expand = toListExpansions(sessionExpansions);
  const sessions = stripe.checkout.sessions.list({ ...filter, status: 'complete', limit: pageSize, expand });
  return await parseComplete(v.array(Session), await listAll(sessions), stripe);
}

/** Fetches a charge with its refunds. */
export const fetchCharge = async (stripe: Stripe, id: string): Promise<Charge> =>
  await parseComplete(Charge, await stripe.charges.retrieve(id, { expand: ['refunds'] }), stripe);

/** Lists products by id. Deleted products are omitted. */
export async function listProducts(stripe: Stripe, ids: readonly string[]): Promise<ReadonlyMap<string, Product>> {
  const chunks = splitIntoChunks([...new Set(ids)], pageSize);
  const listChunk = async (chunk: readonly string[]) =>
    await listAll(stripe.products.list({ ids: [...chunk], limit: pageSize }));
  const products = parseStripeObject(v.array(Product), (await pMap(chunks, listChunk, { concurrency })).flat());
  return new Map(products.map((product) => [product.id, product]));
}
