import * as v from 'valibot';
import { parse } from '../../foundation/parse.ts';
import { withoutPlatform } from '../../foundation/platform.ts';
import { dayMs, secondMs } from '../../foundation/time.ts';
import { toMd5Hex } from '../../purchases/user-aliases.ts';
import { type ActionRequest, rejectedActionError, type StoreAnswer } from '../purchase-action.ts';
import type { StoreContext } from '../store-context.ts';
import { parseResponse, storeName } from './api-errors.ts';
import { connectPlay, isPlayId, type PlayApi, type SendResult } from './play-api.ts';
import { RefreshToken } from './refresh-token.ts';

interface ActionTarget {
  readonly play: PlayApi;
  readonly token: string;
}

/** Performs an action by the Google Play Developer API. Throws `Conflict` if Google rejects it. */
export async function performAction(request: ActionRequest, context: StoreContext): Promise<StoreAnswer> {
  const { purchaseToken: token } = parse(RefreshToken, request.refreshToken, 'InternalError');
  const target: ActionTarget = { play: connectPlay(context), token };
  switch (request.action) {
    case 'refund':
      return await refundOrder(request, target, false);
    case 'cancel':
      return await cancel(target);
    case 'revoke':
      return await revoke(request, target);
    case 'extend':
      return await defer(request, target, false);
    default:
      return await setAccount(request, target);
  }
}

/** Validates a deferral at Google Play. The other calls lack a dry run. */
export async function checkAction(request: ActionRequest, context: StoreContext): Promise<StoreAnswer> {
  if (request.action !== 'extend') return { status: 'not checked at the store' };
  const { purchaseToken: token } = parse(RefreshToken, request.refreshToken, 'InternalError');
  return await defer(request, { play: connectPlay(context), token }, true);
}

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders/refund */
async function refundOrder(
  { payment, purchase }: ActionRequest,
  { play, token }: ActionTarget,
  revoke: boolean,
): Promise<StoreAnswer> {
  const id = withoutPlatform(payment?.transactionId ?? purchase.transactionId);
  if (id === token || !isPlayId(id)) throw rejectedActionError(storeName, 'the payment has no order.');
  requireAccepted(await play.send(`/orders/${encodeURIComponent(id)}:refund?revoke=${revoke}`));
  return { status: revoke ? 'refunded and revoked' : 'refunded', id };
}

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/cancel */
async function cancel({ play, token }: ActionTarget): Promise<StoreAnswer> {
  const cancellationContext = { cancellationType: 'USER_REQUESTED_STOP_RENEWALS' };
  requireAccepted(await play.send(`${toPath(token)}:cancel`, { cancellationContext }));
  return { status: 'canceled' };
}

/**
 * Revokes a subscription, or one of its items. A one-time purchase is revoked by its order.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/revoke
 */
async function revoke(request: ActionRequest, target: ActionTarget): Promise<StoreAnswer> {
  const { productType, productId } = request.purchase;
  if (productType !== 'paid subscription') return await refundOrder(request, target, true);
  const { lineItems } = await fetchSubscription(target);
  const revocationContext =
    lineItems.length > 1 ? { itemBasedRefund: { productId: withoutPlatform(productId) } } : { fullRefund: {} };
  requireAccepted(await target.play.send(`${toPath(target.token)}:revoke`, { revocationContext }));
  return { status: 'revoked' };
}

const DeferResponse = v.object({
  itemExpiryTimeDetails: v.optional(v.array(v.object({ productId: v.string(), expiryTime: v.string() })), []),
});

/**
 * Defers the renewal. Google rejects a stale etag, so the subscription is read again once.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/defer
 */
async function defer(
  { days = 0, purchase }: ActionRequest,
  target: ActionTarget,
  validateOnly: boolean,
): Promise<StoreAnswer> {
  const deferDuration = `${(days * dayMs) / secondMs}s`;
  const send = async (etag: string | undefined) => {
    const deferralContext = { deferDuration, etag, ...(validateOnly && { validateOnly }) };
    return await target.play.send(`${toPath(target.token)}:defer`, { deferralContext });
  };
  const { etag } = await fetchSubscription(target);
  let result = await send(etag);
  if (result.kind === 'rejected') {
    const { etag: current } = await fetchSubscription(target);
    if (current !== etag) result = await send(current);
  }
  const { itemExpiryTimeDetails: items } = parseResponse(DeferResponse, requireAccepted(result) || '{}');
  const own = items.find(({ productId }) => productId === withoutPlatform(purchase.productId)) ?? items[0];
  return {
    status: validateOnly ? 'valid' : 'deferred',
    ...(own && { until: new Date(own.expiryTime).toISOString() }),
  };
}

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptions/acknowledge */
async function setAccount(
  { account = '', purchase }: ActionRequest,
  { play, token }: ActionTarget,
): Promise<StoreAnswer> {
  const productId = encodeURIComponent(withoutPlatform(purchase.productId));
  const externalAccountIds = { obfuscatedAccountId: toAccountId(account) };
  const path = `/purchases/subscriptions/${productId}/tokens/${encodeURIComponent(token)}:acknowledge`;
  requireAccepted(await play.send(path, { externalAccountIds }));
  return { status: 'account set' };
}

/** Returns a text that can be an id without personal data unchanged, and the MD5 of a username. */
const toAccountId = (account: string): string => (/^[0-9a-f]{32,64}$/i.test(account) ? account : toMd5Hex(account));

const toPath = (token: string): string => `/purchases/subscriptionsv2/tokens/${encodeURIComponent(token)}`;

const Etag = v.object({ etag: v.exactOptional(v.string()) });

async function fetchSubscription({ play, token }: ActionTarget) {
  const result = await play.fetchSubscription(token);
  if (result.kind !== 'found') throw rejectedActionError(storeName, 'the purchase is not found.');
  return { lineItems: result.value.lineItems, etag: parse(Etag, result.native, 'ConnectionFailed').etag };
}

/** Returns the text of the response. Throws `Conflict` for a rejected request. */
function requireAccepted(result: SendResult): string {
  if (result.kind === 'accepted') return result.text;
  throw rejectedActionError(storeName, result.detail);
}
