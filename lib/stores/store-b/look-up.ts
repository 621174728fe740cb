import type { Observation } from '../../purchases/observation.ts';
import type { Millis } from '../../purchases/purchase.ts';
import { type Look, ownedItems, paidOrderId, productObservations, subscriptionObservations } from './observe.ts';
import { earlierOrderIds, withPastOrders } from './past-orders.ts';
import type { OneTimePurchase, Order, Subscription } from './payloads.ts';
import type { Play } from './play.ts';
import { isNotBought } from './subscription-state.ts';

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
 * neither, `gone` when it knows it no more because it expired long ago.
 */
export async function lookUp(wanted: Wanted, asking: Asking): Promise<Found | 'gone' | undefined> {
  const asSubscription = async () => await findSubscription(wanted, asking);
  const asProduct = async () => await findProduct(wanted, asking);
  const [first, second] = wanted.isSubscription ? [asSubscription, asProduct] : [asProduct, asSubscription];
  return (await first()) ?? (await second());
}

async function findSubscription({ token, hints }: Wanted, asking: Asking): Promise<Found | 'gone' | undefined> {
  const answer = await asking.play.subscription(token);
  if (answer.kind === 'gone') return 'gone';
  if (answer.kind !== 'found') return undefined;
  const own = await observed(answer.value, { token, hints }, asking);
  const replaced = await replacedBy(answer.value, asking, mostReplaced);
  return {
    observations: [...own, ...replaced],
    native: { ...impersonal(answer.native), kind: 'androidpublisher#subscriptionPurchaseV2' },
  };
}

/** The answer without the names and addresses of a person, and without what they wrote. */
function impersonal(native: Found['native']): Found['native'] {
  const { subscribeWithGoogleInfo: _person, ...rest } = native;
  return JSON.parse(JSON.stringify(rest, (key, value) => (key === 'reasonUserInput' ? undefined : value)));
}

async function observed(
  subscription: Subscription,
  { token, hints }: Pick<Wanted, 'token' | 'hints'>,
  { play, now }: Asking,
): Promise<Observation[]> {
  const orders = new Map<string, Order>();
  const past = new Map<string, Order>();
  for (const item of ownedItems(subscription)) {
    const orderId = paidOrderId(subscription, item);
    if (orderId === undefined) continue;
    for (const [id, order] of await play.orders([...earlierOrderIds(orderId), orderId])) {
      if (id === orderId) orders.set(item.productId, order);
      else past.set(id, order);
    }
  }
  const looks = subscriptionObservations(subscription, { token, now, orders, hints });
  return looks.map((look) => withPastOrders(look, past));
}

/** The purchases that this one replaced, as ended; a token that Google no longer tells of was replaced long ago. */
async function replacedBy(successor: Subscription, asking: Asking, left: number): Promise<Observation[]> {
  const { linkedPurchaseToken: token } = successor;
  if (!token || left === 0 || isNotBought(successor)) return [];
  const answer = await asking.play.subscription(token);
  if (answer.kind !== 'found') return [];
  const ended = await observed(answer.value, { token, hints: undefined }, asking);
  const replacedAt = Math.min(successor.startTime ?? asking.now, asking.now);
  return [...ended.map((one) => retired(one, replacedAt)), ...(await replacedBy(answer.value, asking, left - 1))];
}

/** A replaced purchase gives nothing any more, even before Google calls it expired. */
function retired(observation: Observation, replacedAt: Millis): Observation {
  const { purchase } = observation;
  const endedAt = Math.min(purchase.expirationDate ?? replacedAt, replacedAt);
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
