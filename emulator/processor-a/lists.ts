import { apiError } from './api-error.ts';
import { type Books, idOf, type Kind, type Kinds } from './books.ts';
import { type Form, innerOf, numberOf, onlyKnown, textOf, textsOf } from './form.ts';
import { invoicesOf } from './shop.ts';

type Fits<K extends Kind> = (object: Kinds[K], value: string, books: Books) => boolean;

/** The filters of each list; what has none cannot be listed. */
const filters: { readonly [K in Kind]?: Readonly<Record<string, Fits<K>>> } = {
  products: { active: ({ active }, value) => String(active) === value },
  prices: {
    active: ({ active }, value) => String(active) === value,
    product: ({ product }, value) => idOf(product) === value,
    type: ({ type }, value) => type === value,
  },
  customers: { email: ({ email }, value) => email === value },
  'checkout/sessions': {
    customer: ({ customer }, value) => idOf(customer) === value,
    payment_intent: ({ payment_intent }, value) => idOf(payment_intent) === value,
    subscription: ({ subscription }, value) => idOf(subscription) === value,
    status: ({ status }, value) => status === value,
  },
  subscriptions: {
    customer: ({ customer }, value) => idOf(customer) === value,
    price: ({ items }, value) => items.data.some(({ price }) => price.id === value),
    status: ({ status }, value) => value === 'all' || status === value || (value === 'ended' && status === 'canceled'),
  },
  invoices: {
    customer: ({ customer }, value) => idOf(customer) === value,
    status: ({ status }, value) => status === value,
    subscription: ({ id }, value, books) => invoicesOf(books, value).some((invoice) => invoice.id === id),
  },
  invoice_payments: {
    invoice: ({ invoice }, value) => idOf(invoice) === value,
    status: ({ status }, value) => status === value,
    'payment[type]': ({ payment }, value) => payment.type === value,
    'payment[payment_intent]': ({ payment }, value) => idOf(payment.payment_intent) === value,
  },
  payment_intents: { customer: ({ customer }, value) => idOf(customer) === value },
  charges: {
    customer: ({ customer }, value) => idOf(customer) === value,
    payment_intent: ({ payment_intent }, value) => idOf(payment_intent) === value,
  },
  refunds: {
    charge: ({ charge }, value) => idOf(charge) === value,
    payment_intent: ({ payment_intent }, value) => idOf(payment_intent) === value,
  },
  disputes: {
    charge: ({ charge }, value) => idOf(charge) === value,
    payment_intent: ({ payment_intent }, value) => idOf(payment_intent) === value,
  },
};

const paging = ['limit', 'starting_after', 'ending_before', 'expand'];

/** A page of a list, newest first; undefined for a kind that has no list. */
export function listPage<K extends Kind>(books: Books, kind: K, query: Form): object | undefined {
  const known = filters[kind];
  if (known === undefined) return undefined;
  const wanted = flat(query);
  onlyKnown(wanted, [...paging, ...Object.keys(known), ...(kind === 'products' ? ['ids'] : [])]);
  const ids = textsOf(query.ids);
  const fits = (object: Kinds[K]): boolean =>
    (ids.length === 0 || ids.includes(object.id)) &&
    Object.entries(known).every(([name, filter]) => {
      const value = textOf(wanted[name]);
      if (value !== undefined) return filter(object, value, books);
      // Without a status the list of subscriptions leaves out what has ended.
      return !(kind === 'subscriptions' && name === 'status' && 'status' in object && object.status === 'canceled');
    });
  const all = ([...books.objects[kind].values()] as Kinds[K][]).filter(fits).reverse();
  return pageOf(all, query, `/v1/${kind}`);
}

function pageOf(all: readonly { readonly id: string }[], query: Form, url: string): object {
  const limit = numberOf(query.limit, 10, 'limit');
  if (limit < 1 || limit > 100)
    throw apiError(400, 'This value must be between 1 and 100 (inclusive).', { param: 'limit' });
  const [after, before] = [textOf(query.starting_after), textOf(query.ending_before)];
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const end = before === undefined ? start + limit : all.findIndex(({ id }) => id === before);
  const first = before === undefined ? start : Math.max(0, end - limit);
  const data = all.slice(first, end);
  return { object: 'list', data, has_more: before === undefined ? end < all.length : first > 0, url };
}

/** Parameters of parameters under the names that the filters have; lists stay whole. */
function flat(query: Form): Form {
  const inner = Object.entries(innerOf(query.payment)).map(([name, value]) => [`payment[${name}]`, value] as const);
  const { payment: _payment, ...rest } = query;
  return { ...rest, ...Object.fromEntries(inner) };
}
