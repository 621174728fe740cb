import { parse } from '../../parse.ts';
import type { Observation } from '../../purchases/observation.ts';
import { prefixed } from '../../purchases/platform.ts';
import { isExpired, type Millis } from '../../purchases/purchase.ts';
import type { Asking, Noticed, StoreMessage } from '../store.ts';
import { connected } from './connected.ts';
import { Content } from './developer-notification.ts';
import { lookUp } from './look-up.ts';
import { reasonOf, type Seen } from './reason-of.ts';
import { endedAt } from './taken.ts';
import { withRefund } from './voided.ts';

/**
 * What a notification tells: the state of its purchase as Google has it now. Without a service account it cannot be known
 * at all, which is an `InternalError` for the operator to see: nothing that is told is lost in silence.
 */
export async function notice(message: StoreMessage, asking: Asking): Promise<Noticed> {
  const content = parse(Content, message.content);
  const { token, productId = '' } = content;
  if (token === undefined) return { reason: reasonOf(message.type), observations: [] };
  const play = connected(asking);
  const now = asking.now();
  const wanted = { token, hints: undefined, productId, isSubscription: content.kind !== 'product' };
  const found = await lookUp(wanted, { play, now });
  // What Google knows no more ended long ago, by its date.
  const shown = found === undefined || found === 'gone' ? [] : found.observations;
  const isOwn = ({ purchase: { purchaseId } }: Observation) => isOf(token, purchaseId);
  const own = shown.filter(isOwn);
  const others = shown.filter((observation) => !isOwn(observation));
  const told = await toldOf(message, { content, own, asking: { play, now } });
  return { reason: reasonOf(message.type, seenIn(own, others, now)), observations: [...told, ...others] };
}

type Noticing = Parameters<typeof withRefund>[0];

/** What the re-read state does not say, and the notification does. */
async function toldOf({ type, at }: StoreMessage, noticing: Omit<Noticing, 'at'>): Promise<readonly Observation[]> {
  if (type === 'SUBSCRIPTION_REVOKED') {
    const { own, asking } = noticing;
    return own.map((observation) => endedAt(observation, at, asking.now));
  }
  return noticing.content.voidedOrderId === undefined ? noticing.own : await withRefund({ ...noticing, at });
}

const isOf = (token: string, purchaseId: string): boolean =>
  purchaseId === prefixed('store_b', token) || purchaseId.startsWith(`${prefixed('store_b', token)}:`);

function seenIn([first, ...rest]: readonly Observation[], others: readonly Observation[], now: Millis): Seen {
  if (!first) return {};
  const { purchase, replaces } = first;
  const replaced = others.find((other) => other.purchase.purchaseId === replaces);
  return {
    isExpired: isExpired(purchase, now),
    isPaid: [first, ...rest].some(({ transactions }) => transactions.length > 0),
    replacesOther: replaced !== undefined && replaced.purchase.productId !== purchase.productId,
    ...(purchase.priceConsentStatus && { priceConsentStatus: purchase.priceConsentStatus }),
  };
}
