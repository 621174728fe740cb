import * as v from 'valibot';
import type { EpochMillis } from '../../shared/time.ts';
import type { StoreContext, StoreResponse } from '../store-context.ts';
import { withTimeBudget } from '../time-budget.ts';
import { evictAccessToken, getAccessToken } from './access-token.ts';
import { checkResponse, parseResponse, unavailableError } from './api-errors.ts';
import { OneTimePurchase, Order, Orders, Subscription, VoidedPurchases } from './payloads.ts';
import type { ServiceAccount, StoreBSettings } from './settings.ts';

/** For what a client waits for. */
export const defaultBudgetMs = 11_000;

/** What Google says of a token: the purchase, or why there is none. */
type ApiResult<T> =
  | { readonly kind: 'found'; readonly value: T; readonly native: Readonly<Record<string, unknown>> }
  | { readonly kind: 'other' | 'unknown' | 'gone' };

/** The purchases of one application at Google Play. Every call throws for what is not about the purchase. */
export interface PlayApi {
  fetchSubscription(token: string): Promise<ApiResult<Subscription>>;
  /** A one-time purchase; the older call is asked where the newer one does not know it. */
  fetchProduct(token: string, productId: string): Promise<ApiResult<OneTimePurchase>>;
  /** Undefined when Google does not tell; an amount is worth no failure. */
  tryFetchOrder(orderId: string): Promise<Order | undefined>;
  /** Several in one call, by their ids; when Google does not tell them all, the last one where it tells that. */
  fetchOrders(orderIds: readonly string[]): Promise<ReadonlyMap<string, Order>>;
  /** The same for what depends on it: throws when Google cannot tell now. */
  fetchOrder(orderId: string): Promise<Order | undefined>;
  /** A page of what was taken back since then, of the last 30 days. */
  listVoidedPurchases(since: EpochMillis, page?: string): Promise<VoidedPurchases>;
  /** Whether Google did it; what it refuses may be done already, or may be none to be done. */
  acknowledge(kind: 'subscriptions' | 'products', productId: string, token: string): Promise<boolean>;
  consume(productId: string, token: string): Promise<boolean>;
}

/** The older purchases.products. */
const LegacyProduct = v.looseObject({
  purchaseState: v.exactOptional(v.number()),
  consumptionState: v.exactOptional(v.number()),
  acknowledgementState: v.exactOptional(v.number()),
  purchaseType: v.exactOptional(v.number()),
  purchaseTimeMillis: v.exactOptional(v.string()),
  orderId: v.exactOptional(v.string()),
  quantity: v.exactOptional(v.number()),
  obfuscatedExternalAccountId: v.exactOptional(v.string()),
  obfuscatedExternalProfileId: v.exactOptional(v.string()),
});

/** Asks Google with the application's service account; all calls together take no longer than `totalMs`. */
export function createPlayApi(
  settings: StoreBSettings & { readonly serviceAccount: ServiceAccount },
  context: StoreContext,
  totalMs = defaultBudgetMs,
): PlayApi {
  const fetch = withTimeBudget(context.fetch, { totalMs, maxCallMs: 5_000, storeName: 'Google Play' });
  const base = `https://androidpublisher.googleapis.com/androidpublisher/v3/applications/${encodeURIComponent(settings.packageName)}`;
  const call = async (path: string, method: 'GET' | 'POST' = 'GET'): Promise<StoreResponse> => {
    const send = async (): Promise<StoreResponse> => {
      const token = await getAccessToken(settings.serviceAccount, { fetch, now: context.now });
      const headers = {
        authorization: `Bearer ${token}`,
        ...(method === 'POST' && { 'content-type': 'application/json' }),
      };
      return await fetch(base + path, { method, headers, ...(method === 'POST' && { body: '{}' }) });
    };
    const first = await send();
    // A token may be withdrawn before its time.
    if (first.status === 401) evictAccessToken(settings.serviceAccount);
    const response = first.status === 401 ? await send() : first;
    checkResponse(response);
    return response;
  };
  const read = async <S extends v.GenericSchema>(path: string, schema: S) => toApiResult(await call(path), schema);
  const fetchOrder = async (orderId: string): Promise<Order | undefined> => {
    const response = await read(`/orders/${encodeURIComponent(orderId)}`, Order);
    return response.kind === 'found' ? response.value : undefined;
  };
  const tryFetchOrder = async (orderId: string) => await fetchOrder(orderId).catch(() => undefined);
  const tryFetchOrders = async (orderIds: readonly string[]): Promise<ReadonlyMap<string, Order> | undefined> => {
    const query = new URLSearchParams(orderIds.map((orderId) => ['orderIds', orderId]));
    const response = await read(`/orders:batchGet?${query}`, Orders);
    if (response.kind !== 'found') return undefined;
    return new Map(response.value.orders.flatMap((order) => (order.orderId ? [[order.orderId, order] as const] : [])));
  };
  return {
    fetchSubscription: (token) => read(`/purchases/subscriptionsv2/tokens/${encodeURIComponent(token)}`, Subscription),
    async fetchProduct(token, productId) {
      const encoded = encodeURIComponent(token);
      const response = await read(`/purchases/productsv2/tokens/${encoded}`, OneTimePurchase);
      if (response.kind === 'found' || !isPlayId(productId)) return response;
      const legacy = await read(
        `/purchases/products/${encodeURIComponent(productId)}/tokens/${encoded}`,
        LegacyProduct,
      );
      return legacy.kind === 'found' ? { ...legacy, value: fromLegacyProduct(legacy.value, productId) } : response;
    },
    tryFetchOrder,
    async fetchOrders(orderIds) {
      const last = orderIds.at(-1) ?? '';
      const all = orderIds.length > 1 ? await tryFetchOrders(orderIds).catch(() => undefined) : undefined;
      if (all?.has(last)) return all;
      const order = await tryFetchOrder(last);
      return new Map(order && [[last, order]]);
    },
    fetchOrder,
    async listVoidedPurchases(since, page) {
      const query = new URLSearchParams({ startTime: String(since), ...voidedOptions, ...(page && { token: page }) });
      const response = await read(`/purchases/voidedpurchases?${query}`, VoidedPurchases);
      if (response.kind !== 'found') throw unavailableError('the voided purchases are not told');
      return response.value;
    },
    async acknowledge(kind, productId, token) {
      const purchase = `${kind}/${encodeURIComponent(productId)}/tokens/${encodeURIComponent(token)}`;
      return (await call(`/purchases/${purchase}:acknowledge`, 'POST')).status < 300;
    },
    async consume(productId, token) {
      const purchase = `products/${encodeURIComponent(productId)}/tokens/${encodeURIComponent(token)}`;
      return (await call(`/purchases/${purchase}:consume`, 'POST')).status < 300;
    },
  };
}

/** Subscriptions, too, and parts of orders. */
const voidedOptions = { type: '1', maxResults: '1000', includeQuantityBasedPartialRefund: 'true' };

function toApiResult<S extends v.GenericSchema>(
  { status, text }: StoreResponse,
  schema: S,
): ApiResult<v.InferOutput<S>> {
  if (status === 410) return { kind: 'gone' };
  if (status === 404) return { kind: 'unknown' };
  if (status >= 400) return { kind: 'other' };
  return { kind: 'found', value: parseResponse(schema, text), native: parseResponse(v.looseObject({}), text) };
}

/** Whether the text can be a token or the id of a product, and a segment of a path. */
export const isPlayId = (text: string): boolean => /^[\x21-\x7e]{1,800}$/.test(text) && text !== '.' && text !== '..';

function fromLegacyProduct(legacy: v.InferOutput<typeof LegacyProduct>, productId: string): OneTimePurchase {
  const { purchaseState, consumptionState, acknowledgementState, purchaseType, purchaseTimeMillis, quantity, ...rest } =
    legacy;
  return {
    ...rest,
    productLineItem: [
      {
        productId,
        productOfferDetails: {
          ...(quantity !== undefined && { quantity }),
          consumptionState:
            consumptionState === 1 ? 'CONSUMPTION_STATE_CONSUMED' : 'CONSUMPTION_STATE_YET_TO_BE_CONSUMED',
        },
      },
    ],
    purchaseStateContext: { purchaseState: ['PURCHASED', 'CANCELLED', 'PENDING'][purchaseState ?? 0] ?? 'PURCHASED' },
    ...(purchaseType === 0 && { testPurchaseContext: { fopType: 'TEST' } }),
    ...(purchaseTimeMillis !== undefined && { purchaseCompletionTime: Number(purchaseTimeMillis) }),
    acknowledgementState:
      acknowledgementState === 1 ? 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED' : 'ACKNOWLEDGEMENT_STATE_PENDING',
  };
}
