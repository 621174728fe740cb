import pMap from 'p-map';
import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { StoreContext, StoreFetch, StoreResponse } from '../store-context.ts';
import { type BudgetedCalls, withTimeBudget } from '../time-budget.ts';
import { evictAccessToken, getAccessToken } from './access-token.ts';
import { checkResponse, describeRejectedCall, parseResponse, storeName, unavailableError } from './api-errors.ts';
import { fromLegacyProduct, LegacyProduct } from './legacy-product.ts';
import { OneTimeProduct, OneTimePurchase, Order, Orders, Subscription, VoidedPurchases } from './payloads.ts';
import { type GooglePlaySettings, parseStoredSettings, type ServiceAccount } from './settings.ts';

/** A parsed response with Google's own JSON, or the reason for its absence: HTTP 400, 404 or 410. */
type ApiResult<T> =
  | { readonly kind: 'found'; readonly value: T; readonly native: Readonly<Record<string, unknown>> }
  | { readonly kind: 'invalid' | 'notFound' | 'gone' };

/** The response to an action. `detail` is Google's reason of a rejection: HTTP 400, 404 or 410. */
export type SendResult =
  | { readonly kind: 'accepted'; readonly text: string }
  | { readonly kind: 'rejected'; readonly detail: string };

/** Google Play Developer API of one app. Every call throws `ConnectionFailed` or `InternalError` like `validate`. */
export interface PlayApi {
  fetchSubscription(token: string): Promise<ApiResult<Subscription>>;
  /** Fetches a one-time purchase from purchases.productsv2, otherwise from the older purchases.products. */
  fetchProduct(token: string, productId: string): Promise<ApiResult<OneTimePurchase>>;
  fetchOrder(orderId: string): Promise<Order | undefined>;
  /**
   * Like `fetchOrder`, but returns undefined on errors, unless the context requires amounts and Google Play is
   * unavailable.
   */
  tryFetchOrder(orderId: string): Promise<Order | undefined>;
  /**
   * Fetches several orders by id, in one call, or each on its own if Google does not have one of them: the call then
   * fails as a whole. If Google rejects or fails the calls, returns the last order or none, like `tryFetchOrder`.
   * @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders/batchget
   */
  fetchOrders(orderIds: readonly string[]): Promise<ReadonlyMap<string, Order>>;
  /** Fetches orders by id like `fetchOrders`. Returns those that Google has, and throws if Google is unavailable. */
  fetchExistingOrders(orderIds: readonly string[]): Promise<ReadonlyMap<string, Order>>;
  /** Fetches the purchase options of a one-time product. Returns undefined on errors: it needs a permission. */
  tryFetchOneTimeProduct(productId: string): Promise<OneTimeProduct | undefined>;
  /** Fetches a page of the purchases that were voided since a time of the last 30 days. */
  listVoidedPurchases(since: EpochMillis, pageToken?: string): Promise<VoidedPurchases>;
  /** Returns false if Google rejects the call, which also happens if the purchase is acknowledged already. */
  acknowledge(kind: 'subscriptions' | 'products', productId: string, token: string): Promise<boolean>;
  /** Returns false if Google rejects the call, which also happens if the purchase is consumed already. */
  consume(productId: string, token: string): Promise<boolean>;
  /** Sends an action of the developer. */
  send(path: string, body?: object): Promise<SendResult>;
}

type ConnectedSettings = GooglePlaySettings & { readonly serviceAccount: ServiceAccount };

/** Creates an API client whose calls share a time budget. */
export function createPlayApi(
  settings: ConnectedSettings,
  {
    fetch,
    now,
    stopwatch,
    requiresAmounts = false,
  }: Pick<StoreContext, 'fetch' | 'now' | 'stopwatch' | 'requiresAmounts'>,
  { budgetMs }: { readonly budgetMs?: number } = {},
): PlayApi {
  const call = createCall(settings, { fetch: withRequestBudget({ fetch, stopwatch }, budgetMs), now });
  const read = async <S extends v.GenericSchema>(path: string, schema: S) => toApiResult(await call(path), schema);

  const fetchOrder = async (orderId: string): Promise<Order | undefined> => {
    const result = await read(`/orders/${encodeURIComponent(orderId)}`, Order);
    return result.kind === 'found' ? result.value : undefined;
  };
  const ignoreError = (error: unknown): undefined => {
    if (requiresAmounts && error instanceof ServiceError && error.code === 'ConnectionFailed') throw error;
  };
  const tryFetchOrder = async (orderId: string) => await fetchOrder(orderId).catch(ignoreError);
  const fetchOrderBatch = async (orderIds: readonly string[]): Promise<ReadonlyMap<string, Order>> => {
    const query = new URLSearchParams(orderIds.map((orderId) => ['orderIds', orderId]));
    const result = await read(`/orders:batchGet?${query}`, Orders);
    const orders =
      result.kind === 'found'
        ? result.value.orders.map((order) => [order.orderId, order] as const)
        : await pMap(orderIds, async (orderId) => [orderId, await fetchOrder(orderId)] as const, {
            concurrency: orderConcurrency,
          });
    return new Map(orders.flatMap(([orderId, order]) => (orderId && order ? [[orderId, order] as const] : [])));
  };

  return {
    fetchSubscription: (token) => read(`/purchases/subscriptionsv2/tokens/${encodeURIComponent(token)}`, Subscription),
    async fetchProduct(token, productId) {
      const result = await read(`/purchases/productsv2/tokens/${encodeURIComponent(token)}`, OneTimePurchase);
      if (result.kind === 'found' || !isPlayId(productId)) return result;
      const legacy = await read(`/purchases/${toProductPath('products', productId, token)}`, LegacyProduct);
      return legacy.kind === 'found' ? { ...legacy, value: fromLegacyProduct(legacy.value, productId) } : result;
    },
    fetchOrder,
    tryFetchOrder,
    async fetchOrders(orderIds) {
      const lastOrderId = orderIds.at(-1) ?? '';
      const orders = orderIds.length > 1 ? await fetchOrderBatch(orderIds).catch(ignoreError) : undefined;
      if (orders?.has(lastOrderId)) return orders;
      const lastOrder = await tryFetchOrder(lastOrderId);
      return new Map(lastOrder && [[lastOrderId, lastOrder]]);
    },
    fetchExistingOrders: fetchOrderBatch,
    async tryFetchOneTimeProduct(productId) {
      const path = `/oneTimeProducts/${encodeURIComponent(productId)}`;
      const result = await read(path, OneTimeProduct).catch(() => undefined);
      return result?.kind === 'found' ? result.value : undefined;
    },
    async listVoidedPurchases(since, pageToken) {
      const query = new URLSearchParams({
        startTime: String(since),
        ...voidedPurchasesOptions,
        ...(pageToken && { token: pageToken }),
      });
      const result = await read(`/purchases/voidedpurchases?${query}`, VoidedPurchases);
      if (result.kind !== 'found') throw unavailableError('no list of voided purchases');
      return result.value;
    },
    async acknowledge(kind, productId, token) {
      return (await call(`/purchases/${toProductPath(kind, productId, token)}:acknowledge`, 'POST')).status < 300;
    },
    async consume(productId, token) {
      return (await call(`/purchases/${toProductPath('products', productId, token)}:consume`, 'POST')).status < 300;
    },
    async send(path, body) {
      const { status, text } = await call(path, 'POST', body);
      return status < 300 ? { kind: 'accepted', text } : { kind: 'rejected', detail: describeRejectedCall(text) };
    },
  };
}

/** Orders that are fetched concurrently if a batch fails. */
const orderConcurrency = 5;

/** `type` 1 includes subscriptions. */
const voidedPurchasesOptions = { type: '1', maxResults: '1000', includeQuantityBasedPartialRefund: 'true' };

const toProductPath = (kind: 'subscriptions' | 'products', productId: string, token: string): string =>
  `${kind}/${encodeURIComponent(productId)}/tokens/${encodeURIComponent(token)}`;

function createCall(
  { packageName, serviceAccount }: ConnectedSettings,
  context: { readonly fetch: StoreFetch; readonly now: StoreContext['now'] },
): (path: string, method?: 'GET' | 'POST', body?: object) => Promise<StoreResponse> {
  const base = `https://androidpublisher.googleapis.com/androidpublisher/v3/applications/${encodeURIComponent(packageName)}`;
  const send = async (path: string, method: 'GET' | 'POST', body: object): Promise<StoreResponse> => {
    const token = await getAccessToken(serviceAccount, context);
    const headers = {
      authorization: `Bearer ${token}`,
      ...(method === 'POST' && { 'content-type': 'application/json' }),
    };
    return await context.fetch(base + path, {
      method,
      headers,
      ...(method === 'POST' && { body: JSON.stringify(body) }),
    });
  };
  return async (path, method = 'GET', body = {}) => {
    let response = await send(path, method, body);
    // Google may revoke an access token before it expires.
    if (response.status === 401) {
      evictAccessToken(serviceAccount);
      response = await send(path, method, body);
    }
    checkResponse(response);
    return response;
  };
}

function toApiResult<S extends v.GenericSchema>(
  { status, text }: StoreResponse,
  schema: S,
): ApiResult<v.InferOutput<S>> {
  if (status === 410) return { kind: 'gone' };
  if (status === 404) return { kind: 'notFound' };
  if (status >= 400) return { kind: 'invalid' };
  return { kind: 'found', value: parseResponse(schema, text), native: parseResponse(v.looseObject({}), text) };
}

/** Creates the API client of an app. Throws `InternalError` if its settings lack a service account. */
export function connectPlay(
  context: Pick<StoreContext, 'settings' | 'fetch' | 'now' | 'stopwatch' | 'requiresAmounts'>,
  options: { readonly budgetMs?: number } = {},
): PlayApi {
  const { serviceAccount, ...settings } = parseStoredSettings(context.settings);
  if (!serviceAccount) throw new ServiceError('InternalError', 'serviceAccount is missing in the store_b settings.');
  return createPlayApi({ ...settings, serviceAccount }, context, options);
}

/** Time for all calls of one operation that a client waits for. */
export const defaultBudgetMs = 11_000;

const maxCallMs = 5_000;

/** Creates a fetch whose calls to Google Play share a time budget. */
const withRequestBudget = (calls: BudgetedCalls, budgetMs = defaultBudgetMs): StoreFetch =>
  withTimeBudget(calls, { totalMs: budgetMs, maxCallMs, storeName });

const maxLength = 800;
const visibleAscii = /^[\x21-\x7e]+$/;

/** A purchase token, order id or product id, safe as a segment of a URL path. */
export const isPlayId = (text: string): boolean =>
  text.length <= maxLength && visibleAscii.test(text) && text !== '.' && text !== '..';
