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
import { cutResponse } from './cut-lists.ts';
import { expandObject } from './expand.ts';
import { type Form, parseForm, readTexts, rejectUnknownParams } from './form.ts';
import { buildListPage, buildSubresourcePage, listSubscriptionItems } from './lists.ts';
import { listWebhookEndpoints } from './webhook-endpoints.ts';

type Create = (state: AccountState, change: ApiWrite) => object;

const creations: Readonly<Record<string, Create>> = {
  products: createProduct,
  prices: createPrice,
  customers: createCustomer,
  'checkout/sessions': createSession,
  refunds: createRefund,
  'billing_portal/sessions': createPortalSession,
};

const updates: Readonly<Record<string, (state: AccountState, id: string, change: ApiWrite) => object>> = {
  products: updateProduct,
  prices: updatePrice,
  subscriptions: updateSubscription,
};

const objectActions: typeof updates = {
  'POST subscriptions/pause': pauseSubscription,
  'POST subscriptions/resume': resumeSubscription,
  'POST checkout/sessions/expire': expireSession,
};

/**
 * Handles a request to api.stripe.com.
 *
 * @see https://docs.stripe.com/api
 */
export function handleApiCall(account: Account, call: StoreHttpRequest): HttpResponse {
  const id = generateId('req', 14);
  const key = call.headers['idempotency-key'];
  const state: AccountState = {
    ...account.state,
    ...(call.method !== 'GET' && { request: { id, idempotency_key: typeof key === 'string' ? key : null } }),
  };
  try {
    if (getApiKey(call) !== account.secretKey) throw invalidApiKeyError(getApiKey(call));
    return respondIdempotently(account, call, () =>
      toResponse(200, cutResponse(runCall(state, call), state.settings().listLength), id),
    );
  } catch (error) {
    return toErrorResponse(error);
  }
}

function runCall(state: AccountState, call: StoreHttpRequest): unknown {
  if (call.method === 'GET' && call.path === '/v1/webhook_endpoints')
    return listWebhookEndpoints(state.getNotificationUrl(), state.now());
  const form = call.method === 'POST' ? parseBody(call) : parseForm(call.query);
  if (call.method === 'GET' && call.path === '/v1/subscription_items') return listSubscriptionItems(state, form);
  const { type, id, rest } = parseTarget(state.records, call);
  const change: ApiWrite = { form, at: state.now(), livemode: true, origin: getOrigin(call) };
  const paths = readTexts(form.expand);
  if (rest !== undefined)
    return expandObject(state.records, runSubresourceCall(state, call, { type, id, rest, change }), paths);
  if (call.method === 'GET' && id === undefined) return buildExpandedList(state, type, form);
  return expandObject(state.records, runObjectCall(state, call, { type, id, change }), paths);
}

function parseBody({ body, headers }: StoreHttpRequest): Form {
  if (body.length > 0 && !headers['content-type']?.startsWith('application/x-www-form-urlencoded')) {
    throw apiError(400, 'Invalid request: the body must be form-encoded.');
  }
  return parseForm(new URLSearchParams(body.toString('utf8')));
}

interface Target {
  readonly type: ObjectType;
  readonly id: string | undefined;
}

function runObjectCall(
  state: AccountState,
  call: StoreHttpRequest,
  { type, id, change }: Target & { change: ApiWrite },
): unknown {
  const { method, path } = call;
  if (id === undefined) {
    const create = creations[type];
    if (method === 'POST' && create) return create(state, change);
  } else if (method === 'GET') {
    rejectUnknownParams(change.form, ['expand']);
    return getObjectOrFail(state.records, type, id);
  } else if (method === 'POST') {
    const update = updates[type];
    if (update) return update(state, id, change);
  } else if (type === 'subscriptions' && method === 'DELETE') {
    return cancelSubscription(state, id, change.at);
  }
  throw unrecognizedUrlError(method, path);
}

function getObjectOrFail(records: AccountObjects, type: ObjectType, id: string): object {
  const object = records.objects[type].get(id);
  if (object === undefined)
    throw notFoundError(
      type.replace('/sessions', '.session').replace(/s$/, ''),
      id,
      type === 'subscriptions' ? 'id' : type.replace(/.*\/|s$/g, ''),
    );
  return object;
}

function runSubresourceCall(
  state: AccountState,
  { method, path }: StoreHttpRequest,
  { type, id = '', rest, change }: Target & { rest: string; change: ApiWrite },
): unknown {
  const { [`${method} ${type}/${rest}`]: action } = objectActions;
  if (action) return action(state, id, change);
  const object = getObjectOrFail(state.records, type, id);
  const page =
    method === 'GET' ? buildSubresourcePage(state, `${type}/${rest}`, { id, object, form: change.form }) : undefined;
  if (page === undefined) throw unrecognizedUrlError(method, path);
  return page;
}

function buildExpandedList(state: AccountState, type: ObjectType, form: Form): unknown {
  const page = buildListPage(state, type, form);
  if (page === undefined) throw unrecognizedUrlError('GET', `/v1/${type}`);
  return expandObject(state.records, page, readTexts(form.expand));
}

function parseTarget(
  records: AccountObjects,
  { method, path }: StoreHttpRequest,
): Target & { readonly rest: string | undefined } {
  const [, version, ...segments] = path.split('/').map(decodeURIComponent);
  const depth = segments[0] === 'checkout' || segments[0] === 'billing_portal' ? 2 : 1;
  const type = segments.slice(0, depth).join('/');
  if (version !== 'v1' || !Object.hasOwn(records.objects, type) || segments.length > depth + 2)
    throw unrecognizedUrlError(method, path);
  return { type: type as ObjectType, id: segments[depth], rest: segments[depth + 1] };
}

const unrecognizedUrlError = (method: string, path: string) =>
  apiError(404, `Unrecognized request URL (${method}: ${path}).`);

/** Returns the URL under which the client reaches the emulator and its hosted pages. */
const getOrigin = ({ headers }: StoreHttpRequest): string => `http://${headers.host ?? 'localhost'}`;
