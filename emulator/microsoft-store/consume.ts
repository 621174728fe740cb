import * as v from 'valibot';
import { type HttpResponse, jsonResponse, noContentResponse, type StoreHttpRequest } from '../http-messages.ts';
import { Beneficiary } from './collections.ts';
import { listOpenClawbacks } from './payments.ts';
import type { ConsumedOrder, Purchase } from './records.ts';
import type { ResponseContext } from './response-context.ts';
import { badRequestError, notFoundError } from './service-error.ts';
import { parseRequest, requireKeyHolder, Sandbox } from './service-request.ts';
import { listPurchases } from './store-state.ts';

const Consume = v.object({
  beneficiary: Beneficiary,
  productId: v.exactOptional(v.string()),
  itemId: v.exactOptional(v.string()),
  transactionId: v.exactOptional(v.string()),
  trackingId: v.exactOptional(v.pipe(v.string(), v.uuid())),
  removeQuantity: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  includeOrderIds: v.exactOptional(v.boolean()),
  sbx: Sandbox,
});
type Consume = v.InferOutput<typeof Consume>;

/**
 * `POST /v6.0/collections/consume`: reports a developer-managed consumable as fulfilled.
 *
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/report-consumable-products-as-fulfilled
 */
export function consumeV6(context: ResponseContext, call: StoreHttpRequest): HttpResponse {
  const request = parseRequest(Consume, call);
  consume(context, requireConsumable(context, call, request), request);
  return noContentResponse;
}

/**
 * `POST /v8.0/collections/consume`: consumes a quantity. Idempotent for the same tracking id.
 *
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/microsoft-store-apis/xstore-v8-consume
 */
export function consumeV8(context: ResponseContext, call: StoreHttpRequest): HttpResponse {
  const request = parseRequest(Consume, call);
  const purchase = requireConsumable(context, call, request);
  const { newQuantity, orders } = consume(context, purchase, request);
  return jsonResponse(200, {
    itemId: purchase.item.id,
    newQuantity,
    trackingId: request.trackingId,
    productId: purchase.productId,
    ...(request.includeOrderIds && orders.length > 0 && { orderTransactions: orders }),
  });
}

function requireConsumable(context: ResponseContext, call: StoreHttpRequest, request: Consume): Purchase {
  const { account } = requireKeyHolder(context, call, {
    service: 'collections',
    key: request.beneficiary.identityValue,
  });
  const owned = listPurchases(context.state, account, request.sbx).filter(({ item }) => item.kind !== 'Durable');
  const candidates = owned.filter((purchase) => isReferenced(purchase, request));
  const replayed = candidates.find(({ consumed }) => Object.hasOwn(consumed, request.trackingId ?? ''));
  const purchase = replayed ?? candidates.find(({ item }) => item.status === 'Active' && item.quantity > 0);
  if (purchase === undefined) throw notFoundError('The user does not own enough of this consumable product.');
  return purchase;
}

const isReferenced = ({ item, productId }: Purchase, request: Consume): boolean =>
  request.itemId !== undefined ? item.id === request.itemId.replaceAll('-', '') : productId === request.productId;

type Consumption = Purchase['consumed'][string];

function consume({ state, now }: ResponseContext, purchase: Purchase, request: Consume): Consumption {
  const { item, consumed } = purchase;
  const { trackingId = '', removeQuantity = 1 } = request;
  const previous = consumed[trackingId];
  if (previous !== undefined) return previous;
  const isManaged = item.kind === 'Consumable';
  if (!isManaged && request.removeQuantity !== undefined) {
    throw badRequestError('removeQuantity is not supported for an unmanaged consumable');
  }
  if (removeQuantity > item.quantity) throw badRequestError('removeQuantity exceeds the balance');
  const newQuantity = item.quantity - removeQuantity;
  const orders = allocateOrders(purchase, removeQuantity);
  // The store does not keep the orders of a developer-managed consumable for a repeated request.
  const result = { newQuantity, orders: isManaged ? orders : [] };
  state.purchases.set(purchase.id, {
    ...purchase,
    item: { ...item, quantity: newQuantity, modifiedDate: now() },
    consumed: { ...consumed, ...(trackingId !== '' && { [trackingId]: result }) },
  });
  return { newQuantity, orders };
}

/** Returns the orders of the removed quantity. The earliest orders are used first, so the latest form the balance. */
function allocateOrders({ payments, item }: Purchase, removeQuantity: number): ConsumedOrder[] {
  const orders: ConsumedOrder[] = [];
  let balanceAfter = item.quantity - removeQuantity;
  let remaining = removeQuantity;
  for (const payment of [...payments].reverse()) {
    if (listOpenClawbacks(payment).some(({ state }) => state !== 'Refunded')) continue;
    const { orderId, lineItemId, quantity } = payment;
    const kept = Math.min(quantity, balanceAfter);
    const quantityConsumed = Math.min(quantity - kept, remaining);
    balanceAfter -= kept;
    remaining -= quantityConsumed;
    if (quantityConsumed > 0) orders.unshift({ orderId, orderLineItemId: lineItemId, quantityConsumed });
  }
  return orders;
}
