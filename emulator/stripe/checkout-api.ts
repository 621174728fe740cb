import type Stripe from 'stripe';
import { generateId, getId, saveObject } from './account-objects.ts';
import type { AccountState } from './account-state.ts';
import { apiError, notFoundError } from './api-error.ts';
import { toSeconds } from './catalogue.ts';
import { expireCheckout } from './checkout.ts';
import { type Form, readForm, readMetadata, readNumber, readText, rejectUnknownParams, requireText } from './form.ts';
import { buildCustomer, buildLineItem, buildSession } from './session-objects.ts';

/** Parameters of a write request, and the URL under which the client reached the emulator. */
export interface ApiWrite {
  readonly form: Form;
  readonly at: number;
  readonly livemode: boolean;
  readonly origin: string;
}

/** `POST /v1/customers`. */
export function createCustomer({ records }: AccountState, { form, at, livemode }: ApiWrite): Stripe.Customer {
  rejectUnknownParams(form, ['email', 'name', 'metadata']);
  const [email, name] = [readText(form.email) ?? null, readText(form.name) ?? null];
  return saveObject(
    records,
    'customers',
    buildCustomer(at, { livemode, email, name, metadata: readMetadata(form.metadata) }),
  );
}

const sessionParams = [
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
export function createSession(state: AccountState, { form, at, origin }: ApiWrite): Stripe.Checkout.Session {
  const { records } = state;
  rejectUnknownParams(form, sessionParams);
  const mode = readMode(form);
  const { price, quantity } = requireLineItem(state, form, mode);
  const customer = readText(form.customer) ?? null;
  if (customer !== null && !records.objects.customers.has(customer))
    throw notFoundError('customer', customer, 'customer');
  const customerCreation = readText(form.customer_creation) as 'always' | 'if_required' | undefined;
  if (customerCreation && (mode !== 'payment' || customer !== null)) {
    throw apiError(400, '`customer_creation` can only be used in `payment` mode without a customer.', {
      param: 'customer_creation',
    });
  }
  const reference = readText(form.client_reference_id) ?? null;
  if (reference !== null && reference.length > 200)
    throw apiError(400, 'Invalid string: at most 200 characters', { param: 'client_reference_id' });
  const product = records.objects.products.get(getId(price.product));
  const options = readSessionOptions(form, mode);
  const isTrial = options.trialDays > 0;
  const lines = [buildLineItem(price, { quantity, description: product?.name ?? '', isTrial })];
  const input = {
    mode,
    livemode: price.livemode,
    lines,
    customer,
    clientReferenceId: reference,
    successUrl: readUrl(form, 'success_url'),
    cancelUrl: form.cancel_url === undefined ? null : readUrl(form, 'cancel_url'),
    metadata: readMetadata(form.metadata),
    customerCreation: customerCreation ?? null,
  };
  const session = saveObject(
    records,
    'checkout/sessions',
    buildSession(at, input, (id) => `${origin}/checkout.stripe.com/c/pay/${id}`),
  );
  records.lineItems.set(session.id, lines);
  records.sessionOptions.set(session.id, { ...options, autoRenew: false });
  return session;
}

function readMode(form: Form): 'payment' | 'subscription' {
  const mode = requireText(form, 'mode');
  if (mode !== 'payment' && mode !== 'subscription')
    throw apiError(400, `Invalid mode: must be one of payment or subscription`, { param: 'mode' });
  const excludedParam = mode === 'payment' ? 'subscription_data' : 'payment_intent_data';
  if (form[excludedParam] !== undefined)
    throw apiError(400, `You can not pass \`${excludedParam}\` in \`${mode}\` mode.`, { param: excludedParam });
  return mode;
}

function requireLineItem({ records }: AccountState, form: Form, mode: 'payment' | 'subscription') {
  const line = readForm(readForm(form.line_items)['0']);
  rejectUnknownParams(line, ['price', 'quantity'], 'line_items[0]');
  const id = requireText(line, 'price');
  const price = records.objects.prices.get(id);
  if (price === undefined) throw notFoundError('price', id, 'line_items[0][price]');
  if (!price.active) throw apiError(400, 'The price specified is inactive.', { param: 'line_items[0][price]' });
  if (mode === 'payment' && price.recurring)
    throw apiError(400, 'You specified `payment` mode but passed a recurring price.', { param: 'mode' });
  if (mode === 'subscription' && !price.recurring) {
    throw apiError(400, 'You must provide at least one recurring price in `subscription` mode.', { param: 'mode' });
  }
  return { price, quantity: readNumber(line.quantity, 1, 'line_items[0][quantity]') };
}

function readSessionOptions(form: Form, mode: 'payment' | 'subscription') {
  const data = readForm(mode === 'payment' ? form.payment_intent_data : form.subscription_data);
  rejectUnknownParams(data, mode === 'payment' ? ['metadata'] : ['metadata', 'trial_period_days'], `${mode}_data`);
  return {
    metadata: readMetadata(data.metadata),
    trialDays: readNumber(data.trial_period_days, 0, 'subscription_data[trial_period_days]'),
  };
}

function readUrl(form: Form, name: string): string {
  const url = requireText(form, name);
  if (!/^https?:\/\//.test(url)) throw apiError(400, 'Not a valid URL', { code: 'url_invalid', param: name });
  return url;
}

/** `POST /v1/checkout/sessions/{id}/expire`. */
export function expireSession(state: AccountState, id: string): Stripe.Checkout.Session {
  const session = state.records.objects['checkout/sessions'].get(id);
  if (session === undefined) throw notFoundError('checkout.session', id);
  if (session.status !== 'open')
    throw apiError(400, 'Only Checkout Sessions with a status in ["open"] can be expired.');
  return expireCheckout(state, session, state.now());
}

/** `POST /v1/billing_portal/sessions`. */
export function createPortalSession(
  { records }: AccountState,
  { form, at, origin }: ApiWrite,
): Stripe.BillingPortal.Session {
  rejectUnknownParams(form, ['customer', 'return_url', 'configuration']);
  const customer = requireText(form, 'customer');
  const object = records.objects.customers.get(customer);
  if (object === undefined) throw notFoundError('customer', customer, 'customer');
  const id = generateId('bps');
  return saveObject(records, 'billing_portal/sessions', {
    id,
    object: 'billing_portal.session',
    configuration: readText(form.configuration) ?? generateId('bpc'),
    created: toSeconds(at),
    customer,
    customer_account: null,
    flow: null,
    livemode: object.livemode,
    locale: null,
    on_behalf_of: null,
    return_url: readText(form.return_url) ?? null,
    url: `${origin}/billing.stripe.com/p/session/${id}`,
  });
}
