import { type BillingPeriod, toBillingPeriod } from '../../foundation/billing-period.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import { observeDroppedItems } from './dropped-items.ts';
import { fetchItemOrders } from './item-orders.ts';
import { loadTokenPurchases, type StoredData } from './known-purchases.ts';
import type { MappingContext, PaymentNotification, RequestHints } from './mapping-context.ts';
import { withPastOrders } from './past-orders.ts';
import type { OneTimePurchase, Subscription } from './payloads.ts';
import type { PlayApi } from './play-api.ts';
import { findPredecessors } from './predecessors.ts';
import { toProductObservations } from './product-observation.ts';
import { findRentalEnds } from './rental.ts';
import { listOwnedItems, toSubscriptionObservations } from './subscription-observation.ts';
import { isFirstPaymentMissing } from './subscription-state.ts';

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
  /** Queries subscriptions first. */
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

async function findSubscription(request: LookupRequest, context: LookupContext): Promise<LookupResult | MissingKind> {
  const result = await context.play.fetchSubscription(request.token);
  if (result.kind !== 'found') return result.kind;
  return {
    observations: await observeSubscription(result.value, request, { context, remainingTokens: maxReplacedTokens }),
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

interface ChainContext {
  readonly context: LookupContext;
  /** Number of replaced tokens that are still followed. */
  readonly remainingTokens: number;
}

/** Observes the items of a subscription, the stored items that it dropped, and the purchases that it replaced. */
async function observeSubscription(
  subscription: Subscription,
  { token, hints, productId }: Omit<LookupRequest, 'isSubscription'>,
  chain: ChainContext,
): Promise<Observation[]> {
  const { play, now, storedData } = chain.context;
  const replaced = await findReplacedPurchases(subscription, chain);
  const items = listOwnedItems(subscription);
  const productIds = items.map((item) => item.productId);
  const own = await loadTokenPurchases(token, productIds, storedData);
  const { orders, allOrders, productsPaidBefore } = await fetchItemOrders(items, { token, play, replaced });
  const observations = toSubscriptionObservations(subscription, {
    token,
    now,
    orders,
    hints,
    ...own,
    predecessors: await findPredecessors(subscription, items, { own, replaced, storedData }),
    replacedPeriods: listPeriods(replaced),
    allOrders,
    productsPaidBefore,
    ...pickOptional(chain.context),
  });
  const dropped = await observeDroppedItems(subscription, {
    token,
    own,
    orders: allOrders.values(),
    productId,
    now,
    storedData,
  });
  return [...withPastOrders([...observations, ...dropped], { orders: allOrders, known: own.known }), ...replaced];
}

/**
 * Returns the billing period of each purchase. It is the length of the last payment, unless that paid for a part of a
 * period or for a free trial. Without the order of the payment, a plan change has cut its end.
 */
function listPeriods(observations: readonly Observation[]): Map<string, BillingPeriod> {
  return new Map(
    observations.flatMap(({ purchase: { purchaseId, transactionId }, transactions, hasInferredTransactions }) => {
      const latest = transactions.find((transaction) => transaction.transactionId === transactionId);
      if (latest?.plan) return [[purchaseId, latest.plan.period] as const];
      if (latest?.expirationDate === undefined || latest.isTrialPeriod || hasInferredTransactions) return [];
      return [[purchaseId, toBillingPeriod(latest.periodStartDate ?? latest.purchaseDate, latest.expirationDate)]];
    }),
  );
}

/**
 * Lists the purchases that this one replaced, as ended. A token that Google Play has deleted was replaced long ago.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2
 */
async function findReplacedPurchases(
  successor: Subscription,
  { context, remainingTokens }: ChainContext,
): Promise<Observation[]> {
  const { linkedPurchaseToken: token } = successor;
  if (!token || remainingTokens === 0 || isFirstPaymentMissing(successor)) return [];
  const result = await context.play.fetchSubscription(token);
  if (result.kind !== 'found') return [];
  const request = { token, hints: undefined, productId: '' };
  const observations = await observeSubscription(result.value, request, {
    context,
    remainingTokens: remainingTokens - 1,
  });
  const replacedAt = Math.min(successor.startTime ?? context.now, context.now);
  return observations.map((observation) =>
    observation.refreshToken?.purchaseToken === token ? markReplaced(observation, replacedAt) : observation,
  );
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
  const { orderId, productLineItem } = result.value;
  const order = orderId === undefined ? undefined : await play.tryFetchOrder(orderId);
  const productIds = productLineItem.map((item) => item.productId);
  const own = await loadTokenPurchases(token, productIds, storedData);
  const mapping = {
    token,
    now,
    orders: new Map(productIds.flatMap((id) => (order ? [[id, order] as const] : []))),
    hints,
    ...own,
    rentalEnds: await findRentalEnds(result.value, own, play),
    ...pickOptional(context),
  };
  return {
    observations: toProductObservations(result.value, mapping),
    nativeTransaction: {
      ...result.native,
      ...toLegacyFields(result.value),
      kind: 'androidpublisher#productPurchase',
    },
  };
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
