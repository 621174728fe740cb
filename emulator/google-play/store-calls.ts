import {
  type HttpResponse,
  jsonResponse,
  noContentResponse,
  type StoreHttpRequest,
  textResponse,
} from '../http-messages.ts';
import { apiError, toErrorResponse } from './api-error.ts';
import { getPurchasedPlan } from './catalogue.ts';
import { type DeveloperActionContext, developerActionRoutes, readExternalAccount } from './developer-actions.ts';
import { packageName } from './keys.ts';
import { authorize, handleTokenRequest, scopes } from './oauth.ts';
import { toOrderView } from './order-view.ts';
import { isPending } from './pending-payment.ts';
import { toLegacyProductView, toProductView } from './product-view.ts';
import { handlePubsubCall } from './pubsub-api.ts';
import { handleCertsRequest } from './pubsub-push.ts';
import type { Purchase } from './records.ts';
import { type DecideReview, reviewRefund } from './refund-reviews.ts';
import { toOneTimeProductView } from './rental.ts';
import { requireProduct, requirePurchase } from './require-purchase.ts';
import type { ResponseContext } from './response-context.ts';
import { findOrder } from './store-state.ts';
import { toSubscriptionView } from './subscription-view.ts';
import { listVoidedPurchases } from './voided-list.ts';

const tokenHost = 'oauth2.googleapis.com';
const apiHost = 'androidpublisher.googleapis.com';
const certificatesHost = 'www.googleapis.com';
const pubsubHost = 'pubsub.googleapis.com';

/** Host names of the store. */
export const hostNames = [tokenHost, apiHost, certificatesHost, pubsubHost];

/** Context of API calls, which can decide a refund review and change purchases. */
interface ApiContext extends DeveloperActionContext {
  readonly decideReview: DecideReview;
  /** Returns the URL to which Pub/Sub pushes. */
  readonly getNotificationUrl: () => string | undefined;
}

type CallHandler = (context: ApiContext, parts: readonly string[], call: StoreHttpRequest) => HttpResponse;

/** Handlers of the Developer API by method and by the path after the package name. */
const routes: readonly (readonly [method: string, path: RegExp, handler: CallHandler])[] = [
  ['GET', /^purchases\/subscriptionsv2\/tokens\/([^/:]+)$/, getSubscription],
  ['GET', /^purchases\/productsv2\/tokens\/([^/:]+)$/, getProductPurchase],
  ['GET', /^purchases\/products\/([^/]+)\/tokens\/([^/:]+)$/, getLegacyProduct],
  ...developerActionRoutes,
  ['POST', /^purchases\/subscriptions\/([^/]+)\/tokens\/([^/:]+):acknowledge$/, acknowledgeSubscription],
  ['POST', /^purchases\/products\/([^/]+)\/tokens\/([^/:]+):acknowledge$/, acknowledgeProduct],
  ['POST', /^purchases\/products\/([^/]+)\/tokens\/([^/:]+):consume$/, consumeProduct],
  [
    'GET',
    /^oneTimeProducts\/([^/:]+)$/,
    ({ state }, [productId = '']) => jsonResponse(200, toOneTimeProductView(state, productId)),
  ],
  ['GET', /^orders\/([^/:]+)$/, (context, [id = '']) => jsonResponse(200, requireOrderView(context, id))],
  ['GET', /^orders:batchGet$/, getOrders],
  ['POST', /^orders\/([^/:]+):reviewrefund$/, (context, [id = ''], call) => reviewRefund(context, id, call)],
  [
    'GET',
    /^purchases\/voidedpurchases$/,
    (context, _parts, { query }) => jsonResponse(200, listVoidedPurchases(context, query)),
  ],
];

/** Returns whether a call by POST only reads: it requests an access token. */
export const isQuery = ({ host }: StoreHttpRequest): boolean => host === tokenHost;

/** Handles a call to a host of the store. */
export function handleCall(context: ApiContext, call: StoreHttpRequest): HttpResponse {
  if (call.host === tokenHost) {
    return call.path === '/token' && call.method === 'POST'
      ? handleTokenRequest(context, call)
      : textResponse(404, 'Not Found');
  }
  if (call.host === certificatesHost) {
    const isCertsRequest = call.path === '/oauth2/v3/certs' && call.method === 'GET';
    return isCertsRequest ? handleCertsRequest(context.keys) : textResponse(404, 'Not Found');
  }
  try {
    if (call.host === pubsubHost) {
      authorize(context, call, scopes.pubsub);
      return handlePubsubCall(call, context.getNotificationUrl(), context.settings().payloadUnwrapping);
    }
    authorize(context, call);
    return handleApiCall(context, call);
  } catch (error) {
    return toErrorResponse(error);
  }
}

function handleApiCall(context: ApiContext, call: StoreHttpRequest): HttpResponse {
  const [, name = '', path = ''] = /^\/androidpublisher\/v3\/applications\/([^/]+)\/(.+)$/.exec(call.path) ?? [];
  for (const [method, pattern, handler] of routes) {
    const match = call.method === method ? pattern.exec(path) : null;
    if (match === null) continue;
    if (decodeURIComponent(name) !== packageName) {
      throw apiError(404, 'applicationNotFound', 'No application was found for the given package name.');
    }
    return handler(context, match.slice(1).map(decodeURIComponent), call);
  }
  return textResponse(404, 'Not Found');
}

function getSubscription(context: ResponseContext, [token = '']: readonly string[]): HttpResponse {
  const purchase = requirePurchase(context, token, 'subscription');
  return jsonResponse(200, toSubscriptionView(purchase, getPurchasedPlan(context.state, purchase)));
}

function getProductPurchase(context: ResponseContext, [token = '']: readonly string[]): HttpResponse {
  return jsonResponse(200, toProductView(requirePurchase(context, token, 'product')));
}

function getLegacyProduct(context: ResponseContext, [productId = '', token = '']: readonly string[]): HttpResponse {
  return jsonResponse(200, toLegacyProductView(requireProduct(requirePurchase(context, token, 'product'), productId)));
}

function acknowledgeSubscription(
  context: ResponseContext,
  [productId = '', token = '']: readonly string[],
  call: StoreHttpRequest,
): HttpResponse {
  const purchase = requireProduct(requirePurchase(context, token, 'subscription'), productId);
  if (purchase.isUnpaid) throw apiError(400, 'invalid', 'The subscription purchase is not in a valid state.');
  return saveFlags(context, purchase, { isAcknowledged: true, ...readExternalAccount(purchase, call) });
}

function acknowledgeProduct(context: ResponseContext, [productId = '', token = '']: readonly string[]): HttpResponse {
  return saveFlags(context, requireOwnedProduct(context, productId, token), { isAcknowledged: true });
}

/** Consumes a purchase, which also acknowledges it. */
function consumeProduct(context: ResponseContext, [productId = '', token = '']: readonly string[]): HttpResponse {
  return saveFlags(context, requireOwnedProduct(context, productId, token), { isAcknowledged: true, isConsumed: true });
}

function requireOwnedProduct(context: ResponseContext, productId: string, token: string): Purchase {
  const purchase = requireProduct(requirePurchase(context, token, 'product'), productId);
  if (!purchase.isCancelled && !isPending(purchase)) return purchase;
  throw apiError(400, 'productNotOwnedByUser', 'The product purchase is not owned by the user.');
}

function saveFlags({ state }: ResponseContext, purchase: Purchase, flags: Partial<Purchase>): HttpResponse {
  state.purchases.set(purchase.id, { ...purchase, ...flags });
  return noContentResponse;
}

/**
 * Error of a service account without the permission "View financial data, orders, and cancellation survey responses".
 */
const missingPermissionError = () =>
  apiError(
    403,
    'permissionDenied',
    'The current user has insufficient permissions to perform the requested operation.',
  );

function getOrders(context: ResponseContext, _parts: readonly string[], { query }: StoreHttpRequest): HttpResponse {
  const ids = query.getAll('orderIds');
  if (ids.length < 1 || ids.length > 1000 || new Set(ids).size < ids.length) {
    throw apiError(400, 'invalid', 'orderIds: expected 1 to 1000 distinct order IDs');
  }
  return jsonResponse(200, { orders: ids.map((id) => requireOrderView(context, id)) });
}

function requireOrderView({ state }: ResponseContext, id: string): ReturnType<typeof toOrderView> {
  if (!state.areOrdersReadable) throw missingPermissionError();
  const match = findOrder(state, id);
  if (match === undefined) throw apiError(404, 'orderNotFound', 'The order was not found.');
  const { order, purchase } = match;
  return toOrderView(order, { purchase, product: getPurchasedPlan(state, purchase) });
}
