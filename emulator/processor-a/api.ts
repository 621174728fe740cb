import type { HttpResponse, StoreHttpRequest } from '../http-messages.ts';
import { type Account, getApiKey, invalidApiKeyError, respondIdempotently } from './account.ts';
import { type AccountObjects, generateId, type ObjectType } from './account-objects.ts';
import type { AccountState } from './account-state.ts';
import { apiError, notFoundError, toErrorResponse, toResponse } from './api-error.ts';
import {
  cancelSubscription,
  createRefund,
  pauseSubscription,
  resumeSubscription,
  updateSubscription,
} from './billing-api.ts';
import { createPrice, createProduct, updatePrice, updateProduct } from './catalogue-api.ts';
import { type ApiWrite, createCustomer, createPortalSession, createSession, expireSession } from './checkout-api.ts';
import { expandObject } from './expand.ts';
import { type Form, parseForm, readTexts, rejectUnknownParams } from './form.ts';
import { buildListPage } from './lists.ts';

type Create = (shop: AccountState, change: ApiWrite) => object;

const creations: Readonly<Record<string, Create>> = {
  products: createProduct,
  prices: createPrice,
  customers: createCustomer,
  'checkout/sessions': createSession,
  refunds: createRefund,
  'billing_portal/sessions': createPortalSession,
};

const updates: Readonly<Record<string, (shop: AccountState, id: string, change: ApiWrite) => object>> = {
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
export function handleApiCall(account: Account, call: StoreHttpRequest): HttpResponse {
  const id = generateId('req', 14);
  const key = call.headers['idempotency-key'];
  const shop: AccountState = {
    ...account.state,
    ...(call.method !== 'GET' && { request: { id, idempotency_key: typeof key === 'string' ? key : null } }),
  };
  try {
    if (getApiKey(call) !== account.secretKey) throw invalidApiKeyError(getApiKey(call));
    return respondIdempotently(account, call, () => toResponse(200, runCall(shop, call), id));
  } catch (error) {
    return toErrorResponse(error);
  }
}

function runCall(shop: AccountState, call: StoreHttpRequest): unknown {
  const form = call.method === 'POST' ? parseBody(call) : parseForm(call.query);
  const { kind, id, rest } = parseTarget(shop.books, call);
  const change: ApiWrite = { form, at: shop.now(), livemode: true, origin: getOrigin(call) };
  const paths = readTexts(form.expand);
  if (rest !== undefined) return expandObject(shop.books, subresource(shop, call, { kind, id, rest, change }), paths);
  if (call.method === 'GET' && id === undefined) return expandedList(shop.books, kind, form);
  return expandObject(shop.books, runObjectCall(shop, call, { kind, id, change }), paths);
}

function parseBody({ body, headers }: StoreHttpRequest): Form {
  if (body.length > 0 && !headers['content-type']?.startsWith('application/x-www-form-urlencoded')) {
    throw apiError(400, 'Invalid request: the body must be form-encoded.');
  }
  return parseForm(new URLSearchParams(body.toString('utf8')));
}

interface Target {
  readonly kind: ObjectType;
  readonly id: string | undefined;
}

function runObjectCall(
  shop: AccountState,
  call: StoreHttpRequest,
  { kind, id, change }: Target & { change: ApiWrite },
): unknown {
  const { method, path } = call;
  if (id === undefined) {
    const create = creations[kind];
    if (method === 'POST' && create) return create(shop, change);
  } else if (method === 'GET') {
    rejectUnknownParams(change.form, ['expand']);
    return getObjectOrFail(shop.books, kind, id);
  } else if (method === 'POST') {
    const update = updates[kind];
    if (update) return update(shop, id, change);
  } else if (kind === 'subscriptions' && method === 'DELETE') {
    return cancelSubscription(shop, id, change.at);
  }
  throw unrecognizedUrlError(method, path);
}

function getObjectOrFail(books: AccountObjects, kind: ObjectType, id: string): object {
  const object = books.objects[kind].get(id);
  if (object === undefined)
    throw notFoundError(
      kind.replace('/sessions', '.session').replace(/s$/, ''),
      id,
      kind === 'subscriptions' ? 'id' : kind.replace(/.*\/|s$/g, ''),
    );
  return object;
}

function subresource(
  shop: AccountState,
  { method, path }: StoreHttpRequest,
  { kind, id = '', rest, change }: Target & { rest: string; change: ApiWrite },
): unknown {
  const { [`${method} ${kind}/${rest}`]: act } = acts;
  if (act) return act(shop, id, change);
  if (kind === 'checkout/sessions' && method === 'GET' && rest === 'line_items') {
    getObjectOrFail(shop.books, kind, id);
    return { object: 'list', data: shop.books.lineItems.get(id) ?? [], has_more: false, url: path };
  }
  throw unrecognizedUrlError(method, path);
}

function expandedList(books: AccountObjects, kind: ObjectType, form: Form): unknown {
  const page = buildListPage(books, kind, form);
  if (page === undefined) throw unrecognizedUrlError('GET', `/v1/${kind}`);
  return expandObject(books, page, readTexts(form.expand));
}

function parseTarget(
  books: AccountObjects,
  { method, path }: StoreHttpRequest,
): Target & { readonly rest: string | undefined } {
  const [, version, ...segments] = path.split('/').map(decodeURIComponent);
  const depth = segments[0] === 'checkout' || segments[0] === 'billing_portal' ? 2 : 1;
  const kind = segments.slice(0, depth).join('/');
  if (version !== 'v1' || !Object.hasOwn(books.objects, kind) || segments.length > depth + 2)
    throw unrecognizedUrlError(method, path);
  return { kind: kind as ObjectType, id: segments[depth], rest: segments[depth + 1] };
}

const unrecognizedUrlError = (method: string, path: string) =>
  apiError(404, `Unrecognized request URL (${method}: ${path}).`);

/** Where the caller reaches the emulator; its pages are there, too. */
const getOrigin = ({ headers }: StoreHttpRequest): string => `http://${headers.host ?? 'localhost'}`;
