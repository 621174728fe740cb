import { type Answer, json, type StoreCall, text } from '../http-messages.ts';
import { apiProblem, errorAnswer } from './api-error.ts';
import { askedPurchase, demandProduct } from './asked.ts';
import { orderNamed, productNamed } from './books.ts';
import { packageName } from './keys.ts';
import { answerToken, authorize } from './oauth.ts';
import { orderView } from './order-view.ts';
import { legacyProductView, productView } from './product-view.ts';
import { publishedKeys } from './push.ts';
import type { Purchase } from './records.ts';
import type { Source } from './source.ts';
import { subscriptionView } from './subscription-view.ts';
import { voidedList } from './voided-list.ts';

const tokenHost = 'oauth2.googleapis.com';
const apiHost = 'androidpublisher.googleapis.com';
const certificatesHost = 'www.googleapis.com';

/** The host names of the store. */
export const hostNames = [tokenHost, apiHost, certificatesHost];

type Respond = (source: Source, parts: readonly string[], call: StoreCall) => Answer;

const done: Answer = { status: 204, headers: {}, body: '' };

/** What the API answers, by method and by path behind the application. */
const routes: readonly (readonly [method: string, path: RegExp, respond: Respond])[] = [
  ['GET', /^purchases\/subscriptionsv2\/tokens\/([^/:]+)$/, getSubscription],
  ['GET', /^purchases\/productsv2\/tokens\/([^/:]+)$/, getProduct],
  ['GET', /^purchases\/products\/([^/]+)\/tokens\/([^/:]+)$/, getLegacyProduct],
  ['POST', /^purchases\/subscriptions\/([^/]+)\/tokens\/([^/:]+):acknowledge$/, acknowledgeSubscription],
  ['POST', /^purchases\/products\/([^/]+)\/tokens\/([^/:]+):acknowledge$/, acknowledgeProduct],
  ['POST', /^purchases\/products\/([^/]+)\/tokens\/([^/:]+):consume$/, consumeProduct],
  ['GET', /^orders\/([^/:]+)$/, (source, [id = '']) => json(200, askedOrder(source, id))],
  ['GET', /^orders:batchGet$/, getOrders],
  ['GET', /^purchases\/voidedpurchases$/, (source, _parts, { query }) => json(200, voidedList(source, query))],
];

/** Answers whatever is asked of one of the store's hosts. */
export function answerCall(source: Source, call: StoreCall): Answer {
  if (call.host === tokenHost) {
    return call.path === '/token' && call.method === 'POST' ? answerToken(source, call) : text(404, 'Not Found');
  }
  if (call.host === certificatesHost) {
    const isAsked = call.path === '/oauth2/v3/certs' && call.method === 'GET';
    return isAsked ? publishedKeys(source.keys) : text(404, 'Not Found');
  }
  try {
    authorize(source, call);
    return answerApi(source, call);
  } catch (thrown) {
    return errorAnswer(thrown);
  }
}

function answerApi(source: Source, call: StoreCall): Answer {
  const [, name = '', path = ''] = /^\/androidpublisher\/v3\/applications\/([^/]+)\/(.+)$/.exec(call.path) ?? [];
  for (const [method, pattern, respond] of routes) {
    const match = call.method === method ? pattern.exec(path) : null;
    if (match === null) continue;
    if (decodeURIComponent(name) !== packageName) {
      throw apiProblem(404, 'applicationNotFound', 'No application was found for the given package name.');
    }
    return respond(source, match.slice(1).map(decodeURIComponent), call);
  }
  return text(404, 'Not Found');
}

function getSubscription(source: Source, [token = '']: readonly string[]): Answer {
  const purchase = askedPurchase(source, token, 'subscription');
  return json(200, subscriptionView(purchase, productNamed(source.books, purchase.productId)));
}

function getProduct(source: Source, [token = '']: readonly string[]): Answer {
  return json(200, productView(askedPurchase(source, token, 'product')));
}

function getLegacyProduct(source: Source, [productId = '', token = '']: readonly string[]): Answer {
  return json(200, legacyProductView(demandProduct(askedPurchase(source, token, 'product'), productId)));
}

function acknowledgeSubscription(source: Source, [productId = '', token = '']: readonly string[]): Answer {
  const purchase = demandProduct(askedPurchase(source, token, 'subscription'), productId);
  return marked(source, purchase, { isAcknowledged: true });
}

function acknowledgeProduct(source: Source, [productId = '', token = '']: readonly string[]): Answer {
  return marked(source, ownedProduct(source, productId, token), { isAcknowledged: true });
}

/** Consuming acknowledges too. */
function consumeProduct(source: Source, [productId = '', token = '']: readonly string[]): Answer {
  return marked(source, ownedProduct(source, productId, token), { isAcknowledged: true, isConsumed: true });
}

function ownedProduct(source: Source, productId: string, token: string): Purchase {
  const purchase = demandProduct(askedPurchase(source, token, 'product'), productId);
  if (!purchase.isCancelled) return purchase;
  throw apiProblem(400, 'productNotOwnedByUser', 'The product purchase is not owned by the user.');
}

function marked({ books }: Source, purchase: Purchase, marks: Partial<Purchase>): Answer {
  books.purchases.set(purchase.id, { ...purchase, ...marks });
  return done;
}

function getOrders(source: Source, _parts: readonly string[], { query }: StoreCall): Answer {
  const ids = query.getAll('orderIds');
  if (ids.length < 1 || ids.length > 1000 || new Set(ids).size < ids.length) {
    throw apiProblem(400, 'invalid', 'orderIds: expected 1 to 1000 distinct order IDs');
  }
  return json(200, { orders: ids.map((id) => askedOrder(source, id)) });
}

function askedOrder({ books }: Source, id: string): ReturnType<typeof orderView> {
  const found = orderNamed(books, id);
  if (found === undefined) throw apiProblem(404, 'orderNotFound', 'The order was not found.');
  const { order, purchase } = found;
  return orderView(order, { token: purchase.id, product: productNamed(books, order.productId) });
}
