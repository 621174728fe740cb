import type { Observation } from '../../purchases/observation.ts';
import type { Millis } from '../../purchases/purchase.ts';
import { type Look, ownedItems, paidOrderId, productObservations, subscriptionObservations } from './observe.ts';
import type { OneTimePurchase, Order, Subscription } from './payloads.ts';
import type { Play } from './play.ts';

/** What Google knows under a token. */
export interface Found {
  readonly observations: readonly Observation[];
  /** The answer of the store with its `kind`, as clients read it. */
  readonly native: Readonly<Record<string, unknown>>;
}

interface Wanted {
  readonly token: string;
  readonly hints: Look['hints'];
  readonly productId: string;
  readonly isSubscription: boolean;
}

interface Asking {
  readonly play: Play;
  readonly now: Millis;
}

/** A chain of replaced tokens is followed for so many links. */
const mostReplaced = 5;

/**
 * The purchases of a token: of the kind that is expected, else of the other one. Undefined when Google knows the token as
 * neither.
 */
export async function lookUp(wanted: Wanted, asking: Asking): Promise<Found | undefined> {
  const asSubscription = async () => await findSubscription(wanted, asking);
  const asProduct = async () => await findProduct(wanted, asking);
  const [first, second] = wanted.isSubscription ? [asSubscription, asProduct] : [asProduct, asSubscription];
  return (await first()) ?? (await second());
}

async function findSubscription({ token, hints }: Wanted, asking: Asking): Promise<Found | undefined> {
  const answer = await asking.play.subscription(token);
  if (answer.kind !== 'found') return undefined;
  const { subscribeWithGoogleInfo: _person, ...native } = answer.native;
  const own = await observed(answer.value, { token, hints }, asking);
  const replaced = await replacedBy(answer.value, asking, mostReplaced);
  return {
    observations: [...own, ...replaced],
    native: { ...native, kind: 'androidpublisher#subscriptionPurchaseV2' },
  };
}

async function observed(
  subscription: Subscription,
  { token, hints }: Pick<Wanted, 'token' | 'hints'>,
  { play, now }: Asking,
): Promise<Observation[]> {
  const orders = new Map<string, Order>();
  for (const item of ownedItems(subscription)) {
    const orderId = paidOrderId(subscription, item);
    const order = orderId === undefined ? undefined : await play.order(orderId);
    if (order) orders.set(item.productId, order);
  }
  return subscriptionObservations(subscription, { token, now, orders, hints });
}

/** The purchases that this one replaced, as ended; a token that Google no longer tells of was replaced long ago. */
async function replacedBy(
  { linkedPurchaseToken: token }: Subscription,
  asking: Asking,
  left: number,
): Promise<Observation[]> {
  if (!token || left === 0) return [];
  const answer = await asking.play.subscription(token).catch(() => undefined);
  if (answer?.kind !== 'found') return [];
  const ended = subscriptionObservations(answer.value, { token, now: asking.now, orders: new Map(), hints: undefined });
  return [...ended.map((one) => retired(one, asking.now)), ...(await replacedBy(answer.value, asking, left - 1))];
}

/** A replaced purchase gives nothing any more, even before Google calls it expired. */
function retired(observation: Observation, now: Millis): Observation {
  const { purchase } = observation;
  const endedAt = Math.min(purchase.expirationDate ?? now, now - 1000);
  return {
    ...observation,
    purchase: { ...purchase, endedAt, cancelationReason: 'System.Replaced', renewalIntent: 'Lapse' },
  };
}

async function findProduct({ token, hints, productId }: Wanted, { play, now }: Asking): Promise<Found | undefined> {
  const answer = await play.product(token, productId);
  if (answer.kind !== 'found') return undefined;
  const orders = await productOrders(answer.value, play);
  return {
    observations: productObservations(answer.value, { token, now, orders, hints }),
    native: { ...answer.native, ...legacyWords(answer.value), kind: 'androidpublisher#productPurchase' },
  };
}

async function productOrders({ orderId, productLineItem }: OneTimePurchase, play: Play): Promise<Map<string, Order>> {
  // The order's total is of all its products together, so it is the amount of one only when that is alone.
  const [only, ...others] = productLineItem;
  const order = orderId === undefined || others.length > 0 ? undefined : await play.order(orderId);
  return new Map(order && only ? [[only.productId, order]] : []);
}

/** Clients read the numbers of the older call. */
function legacyWords(bought: OneTimePurchase): Record<string, unknown> {
  const [item] = bought.productLineItem;
  const states = ['PURCHASED', 'CANCELLED', 'PENDING'];
  return {
    ...(item && { productId: item.productId, quantity: item.productOfferDetails?.quantity ?? 1 }),
    purchaseState: Math.max(0, states.indexOf(bought.purchaseStateContext?.purchaseState ?? '')),
    consumptionState: Number(item?.productOfferDetails?.consumptionState === 'CONSUMPTION_STATE_CONSUMED'),
    acknowledgementState: Number(bought.acknowledgementState === 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED'),
  };
}
