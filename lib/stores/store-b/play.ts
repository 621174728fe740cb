import * as v from 'valibot';
import { withinBudget } from '../deadline.ts';
import type { Asking, StoreAnswer } from '../store.ts';
import { accessToken } from './access-token.ts';
import { checkAnswer, understood } from './google-answer.ts';
import { OneTimePurchase, Order, Subscription } from './payloads.ts';
import type { ServiceAccount, StoreBSettings } from './settings.ts';

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

/** Asks Google with the application's service account. */
export function playOf(settings: StoreBSettings & { readonly serviceAccount: ServiceAccount }, asking: Asking): Play {
  const fetch = withinBudget(asking.fetch, { totalMs: 11_000, longestCallMs: 5_000, store: 'Google Play' });
  const base = `https://androidpublisher.googleapis.com/androidpublisher/v3/applications/${encodeURIComponent(settings.packageName)}`;
  const call = async (path: string, method: 'GET' | 'POST' = 'GET'): Promise<StoreAnswer> => {
    const token = await accessToken(settings.serviceAccount, { fetch, now: asking.now });
    const headers = {
      authorization: `Bearer ${token}`,
      ...(method === 'POST' && { 'content-type': 'application/json' }),
    };
    const answer = await fetch(base + path, { method, headers, ...(method === 'POST' && { body: '{}' }) });
    checkAnswer(answer);
    return answer;
  };
  const read = async <S extends v.GenericSchema>(path: string, schema: S) => answered(await call(path), schema);
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
    async order(orderId) {
      const answer = await read(`/orders/${encodeURIComponent(orderId)}`, Order).catch(() => undefined);
      return answer?.kind === 'found' ? answer.value : undefined;
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
