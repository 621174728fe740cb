import type { Answer, StoreCall } from '../http-messages.ts';
import { type Account, keyIn, onceOnly, wrongKey } from './account.ts';
import { answerOf, apiError, errorAnswer, missing } from './api-error.ts';
import {
  cancelSubscription,
  createRefund,
  pauseSubscription,
  resumeSubscription,
  updateSubscription,
} from './billing-api.ts';
import { type Books, type Kind, newId } from './books.ts';
import { createPrice, createProduct, updatePrice, updateProduct } from './catalogue-api.ts';
import { expanded } from './expand.ts';
import { type Form, formOf, onlyKnown, textsOf } from './form.ts';
import { listPage } from './lists.ts';
import { type Change, createCustomer, createPortalSession, createSession, expireSession } from './sales-api.ts';
import type { Shop } from './shop.ts';

type Create = (shop: Shop, change: Change) => object;

const creations: Readonly<Record<string, Create>> = {
  products: createProduct,
  prices: createPrice,
  customers: createCustomer,
  'checkout/sessions': createSession,
  refunds: createRefund,
  'billing_portal/sessions': createPortalSession,
};

const updates: Readonly<Record<string, (shop: Shop, id: string, change: Change) => object>> = {
  products: updateProduct,
  prices: updatePrice,
  subscriptions: updateSubscription,
};

const acts: typeof updates = {
  'POST subscriptions/pause': pauseSubscription,
  'POST subscriptions/resume': resumeSubscription,
  'POST checkout/sessions/expire': expireSession,
};

/** Answers a call of api.stripe.com. */
export function answerApi(account: Account, call: StoreCall): Answer {
  const id = newId('req', 14);
  const key = call.headers['idempotency-key'];
  const shop: Shop = {
    ...account.shop,
    ...(call.method !== 'GET' && { request: { id, idempotency_key: typeof key === 'string' ? key : null } }),
  };
  try {
    if (keyIn(call) !== account.secretKey) throw wrongKey(keyIn(call));
    return onceOnly(account, call, () => answerOf(200, resultOf(shop, call), id));
  } catch (thrown) {
    return errorAnswer(thrown);
  }
}

function resultOf(shop: Shop, call: StoreCall): unknown {
  const form = call.method === 'POST' ? bodyOf(call) : formOf(call.query);
  const { kind, id, rest } = targetOf(shop.books, call);
  const change: Change = { form, at: shop.now(), livemode: true, origin: originOf(call) };
  const paths = textsOf(form.expand);
  if (rest !== undefined) return expanded(shop.books, subresource(shop, call, { kind, id, rest, change }), paths);
  if (call.method === 'GET' && id === undefined) return expandedList(shop.books, kind, form);
  return expanded(shop.books, objectOf(shop, call, { kind, id, change }), paths);
}

function bodyOf({ body, headers }: StoreCall): Form {
  if (body.length > 0 && !headers['content-type']?.startsWith('application/x-www-form-urlencoded')) {
    throw apiError(400, 'Invalid request: the body must be form-encoded.');
  }
  return formOf(new URLSearchParams(body.toString('utf8')));
}

interface Target {
  readonly kind: Kind;
  readonly id: string | undefined;
}

function objectOf(shop: Shop, call: StoreCall, { kind, id, change }: Target & { change: Change }): unknown {
  const { method, path } = call;
  if (id === undefined) {
    const create = creations[kind];
    if (method === 'POST' && create) return create(shop, change);
  } else if (method === 'GET') {
    onlyKnown(change.form, ['expand']);
    return found(shop.books, kind, id);
  } else if (method === 'POST') {
    const update = updates[kind];
    if (update) return update(shop, id, change);
  } else if (kind === 'subscriptions' && method === 'DELETE') {
    return cancelSubscription(shop, id, change.at);
  }
  throw unrecognized(method, path);
}

function found(books: Books, kind: Kind, id: string): object {
  const object = books.objects[kind].get(id);
  if (object === undefined)
    throw missing(
      kind.replace('/sessions', '.session').replace(/s$/, ''),
      id,
      kind === 'subscriptions' ? 'id' : kind.replace(/.*\/|s$/g, ''),
    );
  return object;
}

function subresource(
  shop: Shop,
  { method, path }: StoreCall,
  { kind, id = '', rest, change }: Target & { rest: string; change: Change },
): unknown {
  const { [`${method} ${kind}/${rest}`]: act } = acts;
  if (act) return act(shop, id, change);
  if (kind === 'checkout/sessions' && method === 'GET' && rest === 'line_items') {
    found(shop.books, kind, id);
    return { object: 'list', data: shop.books.lineItems.get(id) ?? [], has_more: false, url: path };
  }
  throw unrecognized(method, path);
}

function expandedList(books: Books, kind: Kind, form: Form): unknown {
  const page = listPage(books, kind, form);
  if (page === undefined) throw unrecognized('GET', `/v1/${kind}`);
  return expanded(books, page, textsOf(form.expand));
}

function targetOf(books: Books, { method, path }: StoreCall): Target & { readonly rest: string | undefined } {
  const [, version, ...segments] = path.split('/').map(decodeURIComponent);
  const depth = segments[0] === 'checkout' || segments[0] === 'billing_portal' ? 2 : 1;
  const kind = segments.slice(0, depth).join('/');
  if (version !== 'v1' || !Object.hasOwn(books.objects, kind) || segments.length > depth + 2)
    throw unrecognized(method, path);
  return { kind: kind as Kind, id: segments[depth], rest: segments[depth + 1] };
}

const unrecognized = (method: string, path: string) => apiError(404, `Unrecognized request URL (${method}: ${path}).`);

/** Where the caller reaches the emulator; its pages are there, too. */
const originOf = ({ headers }: StoreCall): string => `http://${headers.host ?? 'localhost'}`;
