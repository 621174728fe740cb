import type { Observation } from '../../purchases/observation.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { loadKnownPurchases, type StoredData } from './known-purchases.ts';
import type { MappingContext, PaymentNotification, RequestHints } from './mapping-context.ts';
import { listEarlierOrderIds, withPastOrders } from './past-orders.ts';
import type { OneTimePurchase, Order, Subscription } from './payloads.ts';
import type { PlayApi } from './play-api.ts';
import { isFirstPaymentMissing } from './subscription-state.ts';
import {
  findPaidOrderId,
  listOwnedItems,
  toProductObservations,
  toPurchaseIds,
  toSubscriptionObservations,
} from './to-observation.ts';

/** The purchases that Google Play has under a token. */
export interface LookupResult {
  readonly observations: readonly Observation[];
  /** Google's response with the `kind` that clients expect. */
  readonly nativeTransaction: Readonly<Record<string, unknown>>;
}

interface LookupRequest {
  readonly token: string;
  readonly hints: RequestHints | undefined;
  readonly productId: string;
  /** Whether to query subscriptions first. */
  readonly isSubscription: boolean;
}

interface LookupContext {
  readonly play: PlayApi;
  readonly now: EpochMillis;
  readonly storedData: StoredData;
  readonly paymentNotification?: PaymentNotification;
  /** Time of the notification that a one-time purchase ended. */
  readonly endNotifiedAt?: EpochMillis;
}

/** Reason of a missing purchase: the token is deleted, unknown, or invalid for the app or the kind of purchase. */
export type MissingKind = 'gone' | 'notFound' | 'invalid';

const maxReplacedTokens = 5;

/**
 * Queries the purchases of a token: first the expected kind, then the other kind. For a missing token, returns the
 * result for subscriptions: Google Play deletes a token 60 days after the subscription expired.
 */
export async function lookUpToken(request: LookupRequest, context: LookupContext): Promise<LookupResult | MissingKind> {
  const first = request.isSubscription ? await findSubscription(request, context) : await findProduct(request, context);
  if (typeof first === 'object' || first === 'gone') return first;
  const second = request.isSubscription
    ? await findProduct(request, context)
    : await findSubscription(request, context);
  return request.isSubscription && typeof second === 'string' ? first : second;
}

async function findSubscription(
  { token, hints }: LookupRequest,
  context: LookupContext,
): Promise<LookupResult | MissingKind> {
  const result = await context.play.fetchSubscription(token);
  if (result.kind !== 'found') return result.kind;
  const own = await toObservations(result.value, { token, hints }, context);
  const replaced = await findReplacedPurchases(result.value, context, maxReplacedTokens);
  return {
    observations: [...own, ...replaced],
    nativeTransaction: { ...omitPersonalData(result.native), kind: 'androidpublisher#subscriptionPurchaseV2' },
  };
}

const pickOptional = ({
  storedData: { catalogue },
  paymentNotification,
  endNotifiedAt,
}: LookupContext): Pick<MappingContext, 'catalogue' | 'paymentNotification' | 'endNotifiedAt'> =>
  omitUndefined({ catalogue, paymentNotification, endNotifiedAt });

/** Removes the customer's name and addresses, and the free text of the cancellation survey. */
function omitPersonalData(native: LookupResult['nativeTransaction']): LookupResult['nativeTransaction'] {
  const { subscribeWithGoogleInfo: _person, ...rest } = native;
  return JSON.parse(JSON.stringify(rest, (key, value) => (key === 'reasonUserInput' ? undefined : value)));
}

async function toObservations(
  subscription: Subscription,
  { token, hints }: Pick<LookupRequest, 'token' | 'hints'>,
  context: LookupContext,
): Promise<Observation[]> {
  const { play, now, storedData } = context;
  const items = listOwnedItems(subscription);
  const orders = new Map<string, Order>();
  const pastOrders = new Map<string, Order>();
  for (const item of items) {
    const paidOrderId = findPaidOrderId(subscription, item);
    if (paidOrderId === undefined) continue;
    for (const [orderId, order] of await play.fetchOrders([...listEarlierOrderIds(paidOrderId), paidOrderId])) {
      if (orderId === paidOrderId) orders.set(item.productId, order);
      else pastOrders.set(orderId, order);
    }
  }
  const known = await loadKnownPurchases(toPurchaseIds(token, items), storedData);
  const observations = toSubscriptionObservations(subscription, {
    token,
    now,
    orders,
    hints,
    known,
    ...pickOptional(context),
  });
  return observations.map((observation) => withPastOrders(observation, pastOrders));
}

/**
 * Lists the purchases that this one replaced, as ended. A token that Google Play has deleted was replaced long ago.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2
 */
async function findReplacedPurchases(
  successor: Subscription,
  context: LookupContext,
  remainingTokens: number,
): Promise<Observation[]> {
  const { linkedPurchaseToken: token } = successor;
  if (!token || remainingTokens === 0 || isFirstPaymentMissing(successor)) return [];
  const result = await context.play.fetchSubscription(token);
  if (result.kind !== 'found') return [];
  const observations = await toObservations(result.value, { token, hints: undefined }, context);
  const replacedAt = Math.min(successor.startTime ?? context.now, context.now);
  return [
    ...observations.map((observation) => markReplaced(observation, replacedAt)),
    ...(await findReplacedPurchases(result.value, context, remainingTokens - 1)),
  ];
}

/** Ends a replaced purchase, even if Google Play does not report it as expired yet. */
function markReplaced(observation: Observation, replacedAt: EpochMillis): Observation {
  const { purchase } = observation;
  const endedAt = Math.min(purchase.expirationDate ?? replacedAt, replacedAt);
  return {
    ...observation,
    purchase: { ...purchase, endedAt, cancelationReason: 'System.Replaced', renewalIntent: 'Lapse' },
  };
}

async function findProduct(
  { token, hints, productId }: LookupRequest,
  context: LookupContext,
): Promise<LookupResult | MissingKind> {
  const { play, now, storedData } = context;
  const result = await play.fetchProduct(token, productId);
  if (result.kind !== 'found') return result.kind;
  const orders = await fetchProductOrders(result.value, play);
  const known = await loadKnownPurchases(toPurchaseIds(token, result.value.productLineItem), storedData);
  return {
    observations: toProductObservations(result.value, { token, now, orders, hints, known, ...pickOptional(context) }),
    nativeTransaction: {
      ...result.native,
      ...toLegacyFields(result.value),
      kind: 'androidpublisher#productPurchase',
    },
  };
}

async function fetchProductOrders(
  { orderId, productLineItem }: OneTimePurchase,
  play: PlayApi,
): Promise<Map<string, Order>> {
  // The total covers all products of the order, so it is the amount of a product only if there is one.
  const [item, ...otherItems] = productLineItem;
  const order = orderId === undefined || otherItems.length > 0 ? undefined : await play.tryFetchOrder(orderId);
  return new Map(order && item ? [[item.productId, order]] : []);
}

/** Adds the numeric states of purchases.products, which existing clients read. */
function toLegacyFields(oneTimePurchase: OneTimePurchase): Record<string, unknown> {
  const [item] = oneTimePurchase.productLineItem;
  const states = ['PURCHASED', 'CANCELLED', 'PENDING'];
  return {
    ...(item && { productId: item.productId, quantity: item.productOfferDetails?.quantity ?? 1 }),
    purchaseState: Math.max(0, states.indexOf(oneTimePurchase.purchaseStateContext?.purchaseState ?? '')),
    consumptionState: Number(item?.productOfferDetails?.consumptionState === 'CONSUMPTION_STATE_CONSUMED'),
    acknowledgementState: Number(oneTimePurchase.acknowledgementState === 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED'),
  };
}
