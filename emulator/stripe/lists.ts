import { type AccountObjects, getId, type ObjectType, type ObjectTypes } from './account-objects.ts';
import { type AccountState, listInvoices } from './account-state.ts';
import { apiError, notFoundError } from './api-error.ts';
import { getMaxPageLength } from './cut-lists.ts';
import { type Form, readForm, readNumber, readText, readTexts, rejectUnknownParams, requireText } from './form.ts';

type ListFilter<K extends ObjectType> = (object: ObjectTypes[K], value: string, records: AccountObjects) => boolean;

/** Filters by object type. Types without filters cannot be listed. */
const filters: { readonly [K in ObjectType]?: Readonly<Record<string, ListFilter<K>>> } = {
  products: { active: ({ active }, value) => String(active) === value },
  prices: {
    active: ({ active }, value) => String(active) === value,
    product: ({ product }, value) => getId(product) === value,
    type: ({ type }, value) => type === value,
  },
  coupons: {},
  customers: { email: ({ email }, value) => email === value },
  'checkout/sessions': {
    customer: ({ customer }, value) => getId(customer) === value,
    payment_intent: ({ payment_intent }, value) => getId(payment_intent) === value,
    subscription: ({ subscription }, value) => getId(subscription) === value,
    status: ({ status }, value) => status === value,
  },
  subscriptions: {
    customer: ({ customer }, value) => getId(customer) === value,
    price: ({ items }, value) => items.data.some(({ price }) => price.id === value),
    status: ({ status }, value) => value === 'all' || status === value || (value === 'ended' && status === 'canceled'),
  },
  invoices: {
    customer: ({ customer }, value) => getId(customer) === value,
    status: ({ status }, value) => status === value,
    subscription: ({ id }, value, records) => listInvoices(records, value).some((invoice) => invoice.id === id),
  },
  invoice_payments: {
    invoice: ({ invoice }, value) => getId(invoice) === value,
    status: ({ status }, value) => status === value,
    'payment[type]': ({ payment }, value) => payment.type === value,
    'payment[payment_intent]': ({ payment }, value) => getId(payment.payment_intent) === value,
  },
  payment_intents: { customer: ({ customer }, value) => getId(customer) === value },
  charges: {
    customer: ({ customer }, value) => getId(customer) === value,
    payment_intent: ({ payment_intent }, value) => getId(payment_intent) === value,
  },
  refunds: {
    charge: ({ charge }, value) => getId(charge) === value,
    payment_intent: ({ payment_intent }, value) => getId(payment_intent) === value,
  },
  disputes: {
    charge: ({ charge }, value) => getId(charge) === value,
    payment_intent: ({ payment_intent }, value) => getId(payment_intent) === value,
  },
  credit_notes: {
    customer: ({ customer }, value) => getId(customer) === value,
    invoice: ({ invoice }, value) => getId(invoice) === value,
  },
};

const pagingParams = ['limit', 'starting_after', 'ending_before', 'expand'];

/**
 * Builds a page of a list, newest first. Returns undefined for a type that cannot be listed.
 *
 * @see https://docs.stripe.com/api/pagination
 */
export function buildListPage<K extends ObjectType>(state: AccountState, type: K, query: Form): object | undefined {
  const { records } = state;
  const typeFilters = filters[type];
  if (typeFilters === undefined) return undefined;
  const params = flattenQuery(query);
  rejectUnknownParams(params, [...pagingParams, ...Object.keys(typeFilters), ...(type === 'products' ? ['ids'] : [])]);
  const ids = readTexts(query.ids);
  const matches = (object: ObjectTypes[K]): boolean =>
    (ids.length === 0 || ids.includes(object.id)) &&
    Object.entries(typeFilters).every(([name, filter]) => {
      const value = readText(params[name]);
      if (value !== undefined) return filter(object, value, records);
      // The default list of subscriptions excludes canceled subscriptions.
      return !(type === 'subscriptions' && name === 'status' && 'status' in object && object.status === 'canceled');
    });
  const all = ([...records.objects[type].values()] as ObjectTypes[K][]).filter(matches).reverse();
  return toPage(state, all, { query, url: `/v1/${type}` });
}

interface Subresource {
  readonly id: string;
  readonly object: object;
  readonly form: Form;
}

/**
 * Builds a page of a list that belongs to an object, in the order of the embedded list. Returns undefined for an
 * unknown path.
 *
 * @see https://docs.stripe.com/api/invoice-line-item/retrieve
 */
export function buildSubresourcePage(
  state: AccountState,
  path: string,
  { id, object, form }: Subresource,
): object | undefined {
  const elements = findSubresource(state.records, path, { id, object });
  if (elements === undefined) return undefined;
  rejectUnknownParams(form, pagingParams);
  const [type, name] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
  return toPage(state, elements, { query: form, url: `/v1/${type}/${id}/${name}` });
}

function findSubresource({ lineItems }: AccountObjects, path: string, { id, object }: Omit<Subresource, 'form'>) {
  if (path === 'checkout/sessions/line_items') return lineItems.get(id) ?? [];
  if (path === 'invoices/lines') return (object as ObjectTypes['invoices']).lines.data;
  return undefined;
}

/** `GET /v1/subscription_items`. */
export function listSubscriptionItems(state: AccountState, form: Form): object {
  rejectUnknownParams(form, [...pagingParams, 'subscription']);
  const id = requireText(form, 'subscription');
  const subscription = state.records.objects.subscriptions.get(id);
  if (subscription === undefined) throw notFoundError('subscription', id, 'subscription');
  return toPage(state, subscription.items.data, { query: form, url: '/v1/subscription_items' });
}

function toPage(
  { settings }: AccountState,
  all: readonly { readonly id: string }[],
  { query, url }: { query: Form; url: string },
): object {
  const requested = readNumber(query.limit, 10, 'limit');
  if (requested < 1 || requested > 100)
    throw apiError(400, 'This value must be between 1 and 100 (inclusive).', { param: 'limit' });
  const limit = Math.min(requested, getMaxPageLength(settings().listLength));
  const [after, before] = [readText(query.starting_after), readText(query.ending_before)];
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const end = before === undefined ? start + limit : all.findIndex(({ id }) => id === before);
  const first = before === undefined ? start : Math.max(0, end - limit);
  const data = all.slice(first, end);
  return { object: 'list', data, has_more: before === undefined ? end < all.length : first > 0, url };
}

/** Renames the nested parameters of `payment` to the names of the filters. */
function flattenQuery(query: Form): Form {
  const inner = Object.entries(readForm(query.payment)).map(([name, value]) => [`payment[${name}]`, value] as const);
  const { payment: _payment, ...rest } = query;
  return { ...rest, ...Object.fromEntries(inner) };
}
