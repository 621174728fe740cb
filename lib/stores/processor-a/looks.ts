import type Stripe from 'stripe';
import { ServiceError } from '../../errors.ts';
import type { Observation } from '../../purchases/observation.ts';
import { subscriptionIdOf } from './invoices.ts';
import { type Charge, Invoice, PaymentIntent, read, type Session } from './objects.ts';
import type { Origin } from './origin.ts';
import { chargedProduct, chargeOf, seenCharge, seenPayment } from './payment.ts';
import {
  chargesOf,
  disputesOf,
  invoicesOf,
  productsNamed,
  readCharge,
  readSession,
  readSubscription,
  sessionsOf,
  subscriptionsOf,
} from './reads.ts';
import { seenSubscription } from './subscription.ts';
import { takebacksOf } from './takebacks.ts';

/** The account that is asked, and whose look it is. */
export interface Look {
  readonly stripe: Stripe;
  readonly origin: Origin;
}

/**
 * What the processor says of the purchase behind a subscription, session, payment intent, charge or invoice; undefined
 * when it was never paid. Throws `InvalidPayload` for any other id.
 */
export async function lookAt(id: string, look: Look): Promise<Observation | undefined> {
  const kind = /^([a-z]+)_[A-Za-z0-9_]{1,200}$/.exec(id)?.[1];
  switch (kind) {
    case 'sub':
      return await lookAtSubscription(id, look);
    case 'cs':
      return await lookAtSession(await readSession(look.stripe, id), look);
    case 'pi':
      return await lookAtIntent(id, look);
    case 'ch':
    case 'py':
      return await lookAtCharge(await readCharge(look.stripe, id), look);
    case 'in':
      return await lookAtInvoice(read(Invoice, await look.stripe.invoices.retrieve(id)), look);
    default:
      throw new ServiceError(
        'InvalidPayload',
        'transaction.id: expected the id of a charge, payment, session or subscription.',
      );
  }
}

async function lookAtSubscription(id: string, { stripe, origin }: Look): Promise<Observation> {
  const [subscription, invoices] = await Promise.all([
    readSubscription(stripe, id),
    invoicesOf(stripe, { subscription: id }),
  ]);
  const charges = await chargesOf(stripe, subscription.customer);
  const takebacks = takebacksOf(charges, await disputesOf(stripe, charges));
  return seenSubscription(subscription, { origin, invoices, takebacks });
}

async function lookAtSession(session: Session, look: Look): Promise<Observation | undefined> {
  if (session.subscription !== null) return await lookAtSubscription(session.subscription, look);
  const [seen] = await seenPayments([session], look);
  return seen;
}

async function lookAtIntent(id: string, look: Look): Promise<Observation | undefined> {
  const [session] = await sessionsOf(look.stripe, { payment_intent: id });
  if (session) return await lookAtSession(session, look);
  const subscription = await subscriptionPaidBy(id, look);
  if (subscription !== undefined) return await lookAtSubscription(subscription, look);
  const expand = ['latest_charge.refunds'];
  const charge = chargeOf(read(PaymentIntent, await look.stripe.paymentIntents.retrieve(id, { expand })));
  return charge && (await lookAtBareCharge(charge, look));
}

async function lookAtCharge(charge: Charge, look: Look): Promise<Observation | undefined> {
  if (charge.payment_intent === null) return await lookAtBareCharge(charge, look);
  return await lookAtIntent(charge.payment_intent, look);
}

async function lookAtInvoice(invoice: Invoice, look: Look): Promise<Observation> {
  const subscription = subscriptionIdOf(invoice);
  if (subscription === undefined) throw new ServiceError('InvalidPayload', 'The invoice is for no subscription.');
  return await lookAtSubscription(subscription, look);
}

/** The subscription whose invoice the payment paid; a payment itself does not say. */
async function subscriptionPaidBy(id: string, { stripe }: Look): Promise<string | undefined> {
  const { data } = await stripe.invoicePayments.list({
    payment: { type: 'payment_intent', payment_intent: id },
    limit: 1,
    expand: ['data.invoice'],
  });
  const [payment] = data;
  return payment && subscriptionIdOf(read(Invoice, payment.invoice));
}

async function lookAtBareCharge(charge: Charge, { stripe, origin }: Look): Promise<Observation | undefined> {
  const productId = chargedProduct(charge);
  const products = await productsNamed(stripe, productId === undefined ? [] : [productId]);
  return seenCharge(charge, { origin, disputes: await disputesOf(stripe, [charge]), products });
}

/** What the processor says of everything that a customer ever bought from the application. */
export async function lookAtCustomer(customer: string, look: Look): Promise<Observation[]> {
  const { stripe, origin } = look;
  const [subscriptions, invoices, charges, sessions] = await Promise.all([
    subscriptionsOf(stripe, customer),
    invoicesOf(stripe, { customer }),
    chargesOf(stripe, customer),
    sessionsOf(stripe, { customer }),
  ]);
  const takebacks = takebacksOf(charges, await disputesOf(stripe, charges));
  const own = subscriptions.filter(({ metadata }) => metadata?.app === undefined || metadata.app === origin.app);
  return [
    ...own.map((subscription) => {
      const bills = invoices.filter((invoice) => subscriptionIdOf(invoice) === subscription.id);
      return seenSubscription(subscription, { origin, invoices: bills, takebacks });
    }),
    ...(await seenPayments(sessions.filter(isOwnPayment(origin)), look)),
  ];
}

const isOwnPayment =
  ({ app }: Origin) =>
  ({ mode, metadata }: Session): boolean =>
    mode === 'payment' && (metadata?.app === undefined || metadata.app === app);

async function seenPayments(sessions: readonly Session[], { stripe, origin }: Look): Promise<Observation[]> {
  const charges = sessions.flatMap(({ payment_intent: intent }) =>
    typeof intent === 'string' ? [] : (chargeOf(intent ?? undefined) ?? []),
  );
  const ids = sessions.flatMap(({ line_items }) =>
    (line_items?.data ?? []).flatMap(({ price }) =>
      price === null ? [] : [typeof price.product === 'string' ? price.product : price.product.id],
    ),
  );
  const [products, disputes] = await Promise.all([productsNamed(stripe, ids), disputesOf(stripe, charges)]);
  return sessions.flatMap((session) => seenPayment(session, { origin, disputes, products }) ?? []);
}
