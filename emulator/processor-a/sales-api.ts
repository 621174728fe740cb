import type Stripe from 'stripe';
import { apiError, missing } from './api-error.ts';
import { enter, idOf, newId } from './books.ts';
import { seconds } from './catalogue.ts';
import { abandonCheckout } from './checkout.ts';
import { type Form, innerOf, metadataOf, numberOf, onlyKnown, required, textOf } from './form.ts';
import { newCustomer, newLineItem, newSession } from './session-objects.ts';
import type { Shop } from './shop.ts';

/** A call that changes something: its parameters and the address at which the emulator was reached. */
export interface Change {
  readonly form: Form;
  readonly at: number;
  readonly livemode: boolean;
  readonly origin: string;
}

/** `POST /v1/customers`. */
export function createCustomer({ books }: Shop, { form, at, livemode }: Change): Stripe.Customer {
  onlyKnown(form, ['email', 'name', 'metadata']);
  const [email, name] = [textOf(form.email) ?? null, textOf(form.name) ?? null];
  return enter(books, 'customers', newCustomer(at, { livemode, email, name, metadata: metadataOf(form.metadata) }));
}

const sessionParameters = [
  'mode',
  'line_items',
  'success_url',
  'cancel_url',
  'client_reference_id',
  'customer',
  'customer_creation',
  'metadata',
  'subscription_data',
  'payment_intent_data',
  'expand',
];

/** `POST /v1/checkout/sessions`. */
export function createSession(shop: Shop, { form, at, origin }: Change): Stripe.Checkout.Session {
  const { books } = shop;
  onlyKnown(form, sessionParameters);
  const mode = modeOf(form);
  const { price, quantity } = soldLine(shop, form, mode);
  const customer = textOf(form.customer) ?? null;
  if (customer !== null && !books.objects.customers.has(customer)) throw missing('customer', customer, 'customer');
  const customerCreation = textOf(form.customer_creation) as 'always' | 'if_required' | undefined;
  if (customerCreation && (mode !== 'payment' || customer !== null)) {
    throw apiError(400, '`customer_creation` can only be used in `payment` mode without a customer.', {
      param: 'customer_creation',
    });
  }
  const reference = textOf(form.client_reference_id) ?? null;
  if (reference !== null && reference.length > 200)
    throw apiError(400, 'Invalid string: at most 200 characters', { param: 'client_reference_id' });
  const asked = {
    mode,
    livemode: price.livemode,
    price,
    quantity,
    customer,
    clientReferenceId: reference,
    successUrl: addressOf(form, 'success_url'),
    cancelUrl: form.cancel_url === undefined ? null : addressOf(form, 'cancel_url'),
    metadata: metadataOf(form.metadata),
    customerCreation: customerCreation ?? null,
  };
  const session = enter(
    books,
    'checkout/sessions',
    newSession(at, asked, (id) => `${origin}/checkout.stripe.com/c/pay/${id}`),
  );
  const product = books.objects.products.get(idOf(price.product));
  books.lineItems.set(session.id, [newLineItem(price, quantity, product?.name ?? '')]);
  books.wishes.set(session.id, { ...wishOf(form, mode), autoRenew: false });
  return session;
}

function modeOf(form: Form): 'payment' | 'subscription' {
  const mode = required(form, 'mode');
  if (mode !== 'payment' && mode !== 'subscription')
    throw apiError(400, `Invalid mode: must be one of payment or subscription`, { param: 'mode' });
  const other = mode === 'payment' ? 'subscription_data' : 'payment_intent_data';
  if (form[other] !== undefined)
    throw apiError(400, `You can not pass \`${other}\` in \`${mode}\` mode.`, { param: other });
  return mode;
}

function soldLine({ books }: Shop, form: Form, mode: 'payment' | 'subscription') {
  const line = innerOf(innerOf(form.line_items)['0']);
  onlyKnown(line, ['price', 'quantity'], 'line_items[0]');
  const id = required(line, 'price');
  const price = books.objects.prices.get(id);
  if (price === undefined) throw missing('price', id, 'line_items[0][price]');
  if (!price.active) throw apiError(400, 'The price specified is inactive.', { param: 'line_items[0][price]' });
  if (mode === 'payment' && price.recurring)
    throw apiError(400, 'You specified `payment` mode but passed a recurring price.', { param: 'mode' });
  if (mode === 'subscription' && !price.recurring) {
    throw apiError(400, 'You must provide at least one recurring price in `subscription` mode.', { param: 'mode' });
  }
  return { price, quantity: numberOf(line.quantity, 1, 'line_items[0][quantity]') };
}

function wishOf(form: Form, mode: 'payment' | 'subscription') {
  const data = innerOf(mode === 'payment' ? form.payment_intent_data : form.subscription_data);
  onlyKnown(data, mode === 'payment' ? ['metadata'] : ['metadata', 'trial_period_days'], `${mode}_data`);
  return {
    metadata: metadataOf(data.metadata),
    trialDays: numberOf(data.trial_period_days, 0, 'subscription_data[trial_period_days]'),
  };
}

function addressOf(form: Form, name: string): string {
  const address = required(form, name);
  if (!/^https?:\/\//.test(address)) throw apiError(400, 'Not a valid URL', { code: 'url_invalid', param: name });
  return address;
}

/** `POST /v1/checkout/sessions/{id}/expire`. */
export function expireSession(shop: Shop, id: string): Stripe.Checkout.Session {
  const session = shop.books.objects['checkout/sessions'].get(id);
  if (session === undefined) throw missing('checkout.session', id);
  if (session.status !== 'open')
    throw apiError(400, 'Only Checkout Sessions with a status in ["open"] can be expired.');
  return abandonCheckout(shop, session, shop.now());
}

/** `POST /v1/billing_portal/sessions`. */
export function createPortalSession({ books }: Shop, { form, at, origin }: Change): Stripe.BillingPortal.Session {
  onlyKnown(form, ['customer', 'return_url', 'configuration']);
  const customer = required(form, 'customer');
  const found = books.objects.customers.get(customer);
  if (found === undefined) throw missing('customer', customer, 'customer');
  const id = newId('bps');
  return enter(books, 'billing_portal/sessions', {
    id,
    object: 'billing_portal.session',
    configuration: textOf(form.configuration) ?? newId('bpc'),
    created: seconds(at),
    customer,
    customer_account: null,
    flow: null,
    livemode: found.livemode,
    locale: null,
    on_behalf_of: null,
    return_url: textOf(form.return_url) ?? null,
    url: `${origin}/billing.stripe.com/p/session/${id}`,
  });
}
