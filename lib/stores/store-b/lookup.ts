import type { Observation } from '../../purchases/observation.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { listEarlierOrderIds, withPastOrders } from './past-orders.ts';
import type { OneTimePurchase, Order, Subscription } from './payloads.ts';
import type { PlayApi } from './play-api.ts';
import { isFirstPaymentMissing } from './subscription-state.ts';
import {
  findPaidOrderId,
  listOwnedItems,
  type MappingContext,
  toProductObservations,
  toSubscriptionObservations,
} from './to-observation.ts';

/** What Google knows under a token. */
export interface LookupResult {
  readonly observations: readonly Observation[];
  /** The answer of the store with its `kind`, as clients read it. */
  readonly nativeTransaction: Readonly<Record<string, unknown>>;
}

interface LookupRequest {
  readonly token: string;
  readonly hints: MappingContext['hints'];
  readonly productId: string;
  readonly isSubscription: boolean;
}

interface LookupContext {
  readonly play: PlayApi;
  readonly now: EpochMillis;
}

/** A chain of replaced tokens is followed for so many links. */
const maxReplacedTokens = 5;

/**
 * The purchases of a token: of the kind that is expected, else of the other one. Undefined when Google knows the token as
 * neither, `gone` when it knows it no more because it expired long ago.
 */
export async function lookUpToken(
  wanted: LookupRequest,
  context: LookupContext,
): Promise<LookupResult | 'gone' | undefined> {
  const asSubscription = async () => await findSubscription(wanted, context);
  const asProduct = async () => await findProduct(wanted, context);
  const [first, second] = wanted.isSubscription ? [asSubscription, asProduct] : [asProduct, asSubscription];
  return (await first()) ?? (await second());
}

async function findSubscription(
  { token, hints }: LookupRequest,
  context: LookupContext,
): Promise<LookupResult | 'gone' | undefined> {
  const response = await context.play.fetchSubscription(token);
  if (response.kind === 'gone') return 'gone';
  if (response.kind !== 'found') return undefined;
  const own = await toObservations(response.value, { token, hints }, context);
  const replaced = await findReplacedPurchases(response.value, context, maxReplacedTokens);
  return {
    observations: [...own, ...replaced],
    nativeTransaction: { ...omitPersonalData(response.native), kind: 'androidpublisher#subscriptionPurchaseV2' },
  };
}

/** The answer without the names and addresses of a person, and without what they wrote. */
function omitPersonalData(native: LookupResult['nativeTransaction']): LookupResult['nativeTransaction'] {
  const { subscribeWithGoogleInfo: _person, ...rest } = native;
  return JSON.parse(JSON.stringify(rest, (key, value) => (key === 'reasonUserInput' ? undefined : value)));
}

async function toObservations(
  subscription: Subscription,
  { token, hints }: Pick<LookupRequest, 'token' | 'hints'>,
  { play, now }: LookupContext,
): Promise<Observation[]> {
  const orders = new Map<string, Order>();
  const past = new Map<string, Order>();
  for (const item of listOwnedItems(subscription)) {
    const orderId = findPaidOrderId(subscription, item);
    if (orderId === undefined) continue;
    for (const [id, order] of await play.fetchOrders([...listEarlierOrderIds(orderId), orderId])) {
      if (id === orderId) orders.set(item.productId, order);
      else past.set(id, order);
    }
  }
  const observations = toSubscriptionObservations(subscription, { token, now, orders, hints });
  return observations.map((observation) => withPastOrders(observation, past));
}

/** The purchases that this one replaced, as ended; a token that Google no longer tells of was replaced long ago. */
async function findReplacedPurchases(
  successor: Subscription,
  context: LookupContext,
  left: number,
): Promise<Observation[]> {
  const { linkedPurchaseToken: token } = successor;
  if (!token || left === 0 || isFirstPaymentMissing(successor)) return [];
  const response = await context.play.fetchSubscription(token);
  if (response.kind !== 'found') return [];
  const ended = await toObservations(response.value, { token, hints: undefined }, context);
  const replacedAt = Math.min(successor.startTime ?? context.now, context.now);
  return [
    ...ended.map((observation) => markReplaced(observation, replacedAt)),
    ...(await findReplacedPurchases(response.value, context, left - 1)),
  ];
}

/** A replaced purchase gives nothing any more, even before Google calls it expired. */
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
  { play, now }: LookupContext,
): Promise<LookupResult | undefined> {
  const response = await play.fetchProduct(token, productId);
  if (response.kind !== 'found') return undefined;
  const orders = await fetchProductOrders(response.value, play);
  return {
    observations: toProductObservations(response.value, { token, now, orders, hints }),
    nativeTransaction: {
      ...response.native,
      ...toLegacyFields(response.value),
      kind: 'androidpublisher#productPurchase',
    },
  };
}

async function fetchProductOrders(
  { orderId, productLineItem }: OneTimePurchase,
  play: PlayApi,
): Promise<Map<string, Order>> {
  // The order's total is of all its products together, so it is the amount of one only when that is alone.
  const [only, ...others] = productLineItem;
  const order = orderId === undefined || others.length > 0 ? undefined : await play.tryFetchOrder(orderId);
  return new Map(order && only ? [[only.productId, order]] : []);
}

/** Clients read the numbers of the older call. */
function toLegacyFields(bought: OneTimePurchase): Record<string, unknown> {
  const [item] = bought.productLineItem;
  const states = ['PURCHASED', 'CANCELLED', 'PENDING'];
  return {
    ...(item && { productId: item.productId, quantity: item.productOfferDetails?.quantity ?? 1 }),
    purchaseState: Math.max(0, states.indexOf(bought.purchaseStateContext?.purchaseState ?? '')),
    consumptionState: Number(item?.productOfferDetails?.consumptionState === 'CONSUMPTION_STATE_CONSUMED'),
    acknowledgementState: Number(bought.acknowledgementState === 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED'),
  };
}
