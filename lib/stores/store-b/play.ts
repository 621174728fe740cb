import * as v from 'valibot';
import type { Millis } from '../../purchases/purchase.ts';
import { withinBudget } from '../deadline.ts';
import type { Asking, StoreAnswer } from '../store.ts';
import { accessToken, forgetAccessToken } from './access-token.ts';
import { checkAnswer, unavailable, understood } from './google-answer.ts';
import { OneTimePurchase, Order, Orders, Subscription, VoidedPurchases } from './payloads.ts';
import type { ServiceAccount, StoreBSettings } from './settings.ts';

/** For what a client waits for. */
export const usualMs = 11_000;

/** What Google says of a token: the purchase, or why there is none. */
type Answered<T> =
  | { readonly kind: 'found'; readonly value: T; readonly native: Readonly<Record<string, unknown>> }
  | { readonly kind: 'other' | 'unknown' | 'gone' };

/** The purchases of one application at Google Play. Every call throws for what is not about the purchase. */
export interface Play {
  subscription(token: string): Promise<Answered<Subscription>>;
  /** A one-time purchase; the older call is asked where the newer one does not know it. */
  product(token: string, productId: string): Promise<Answered<OneTimePurchase>>;
  /** Undefined when Google does not tell; an amount is worth no failure. */
  order(orderId: string): Promise<Order | undefined>;
  /** Several in one call, by their ids; when Google does not tell them all, the last one where it tells that. */
  orders(orderIds: readonly string[]): Promise<ReadonlyMap<string, Order>>;
  /** The same for what depends on it: throws when Google cannot tell now. */
  orderNow(orderId: string): Promise<Order | undefined>;
  /** A page of what was taken back since then, of the last 30 days. */
  voided(since: Millis, page?: string): Promise<VoidedPurchases>;
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
export function playOf(
  settings: StoreBSettings & { readonly serviceAccount: ServiceAccount },
  asking: Asking,
  totalMs = usualMs,
): Play {
  const fetch = withinBudget(asking.fetch, { totalMs, longestCallMs: 5_000, store: 'Google Play' });
  const base = `https://androidpublisher.googleapis.com/androidpublisher/v3/applications/${encodeURIComponent(settings.packageName)}`;
  const call = async (path: string, method: 'GET' | 'POST' = 'GET'): Promise<StoreAnswer> => {
    const ask = async (): Promise<StoreAnswer> => {
      const token = await accessToken(settings.serviceAccount, { fetch, now: asking.now });
      const headers = {
        authorization: `Bearer ${token}`,
        ...(method === 'POST' && { 'content-type': 'application/json' }),
      };
      return await fetch(base + path, { method, headers, ...(method === 'POST' && { body: '{}' }) });
    };
    const first = await ask();
    // A token may be withdrawn before its time.
    if (first.status === 401) forgetAccessToken(settings.serviceAccount);
    const answer = first.status === 401 ? await ask() : first;
    checkAnswer(answer);
    return answer;
  };
  const read = async <S extends v.GenericSchema>(path: string, schema: S) => answered(await call(path), schema);
  const orderNow = async (orderId: string): Promise<Order | undefined> => {
    const answer = await read(`/orders/${encodeURIComponent(orderId)}`, Order);
    return answer.kind === 'found' ? answer.value : undefined;
  };
  const orderIfTold = async (orderId: string) => await orderNow(orderId).catch(() => undefined);
  const several = async (orderIds: readonly string[]): Promise<ReadonlyMap<string, Order> | undefined> => {
    const query = new URLSearchParams(orderIds.map((orderId) => ['orderIds', orderId]));
    const answer = await read(`/orders:batchGet?${query}`, Orders);
    if (answer.kind !== 'found') return undefined;
    return new Map(answer.value.orders.flatMap((order) => (order.orderId ? [[order.orderId, order] as const] : [])));
  };
  return {
    subscription: (token) => read(`/purchases/subscriptionsv2/tokens/${encodeURIComponent(token)}`, Subscription),
    async product(token, productId) {
      const encoded = encodeURIComponent(token);
      const answer = await read(`/purchases/productsv2/tokens/${encoded}`, OneTimePurchase);
      if (answer.kind === 'found' || !isPlayId(productId)) return answer;
      const legacy = await read(
        `/purchases/products/${encodeURIComponent(productId)}/tokens/${encoded}`,
        LegacyProduct,
      );
      return legacy.kind === 'found' ? { ...legacy, value: modern(legacy.value, productId) } : answer;
    },
    order: orderIfTold,
    async orders(orderIds) {
      const last = orderIds.at(-1) ?? '';
      const all = orderIds.length > 1 ? await several(orderIds).catch(() => undefined) : undefined;
      if (all?.has(last)) return all;
      const order = await orderIfTold(last);
      return new Map(order && [[last, order]]);
    },
    orderNow,
    async voided(since, page) {
      const query = new URLSearchParams({ startTime: String(since), ...voidedOptions, ...(page && { token: page }) });
      const answer = await read(`/purchases/voidedpurchases?${query}`, VoidedPurchases);
      if (answer.kind !== 'found') throw unavailable('the voided purchases are not told');
      return answer.value;
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

function answered<S extends v.GenericSchema>({ status, text }: StoreAnswer, schema: S): Answered<v.InferOutput<S>> {
  if (status === 410) return { kind: 'gone' };
  if (status === 404) return { kind: 'unknown' };
  if (status >= 400) return { kind: 'other' };
  return { kind: 'found', value: understood(schema, text), native: understood(v.looseObject({}), text) };
}

/** Whether the text can be a token or the id of a product, and a segment of a path. */
export const isPlayId = (text: string): boolean => /^[\x21-\x7e]{1,800}$/.test(text) && text !== '.' && text !== '..';

function modern(legacy: v.InferOutput<typeof LegacyProduct>, productId: string): OneTimePurchase {
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
