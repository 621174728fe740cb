import * as v from 'valibot';
import { type Answer, json, type StoreCall } from '../http-messages.ts';
import { purchasesOf } from './books.ts';
import { latestPayment } from './collection-item.ts';
import { Beneficiary } from './collections.ts';
import type { Purchase } from './records.ts';
import { badRequest, notFound } from './service-error.ts';
import { askedAbout, requested, Sandbox } from './service-request.ts';
import type { Source } from './source.ts';

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

/** `POST /v6.0/collections/consume`: reports a consumable of the developer's as fulfilled. */
export function consumeV6(source: Source, call: StoreCall): Answer {
  const request = requested(Consume, call);
  consume(source, consumableOf(source, call, request), request);
  return { status: 204, headers: {}, body: '' };
}

/** `POST /v8.0/collections/consume`: takes some of a consumable away; the same tracking id takes it once. */
export function consumeV8(source: Source, call: StoreCall): Answer {
  const request = requested(Consume, call);
  const purchase = consumableOf(source, call, request);
  const newQuantity = consume(source, purchase, request);
  const { orderId, lineItemId } = latestPayment(purchase);
  const quantityConsumed = request.removeQuantity ?? 1;
  return json(200, {
    itemId: purchase.item.id,
    newQuantity,
    trackingId: request.trackingId,
    productId: purchase.productId,
    ...(request.includeOrderIds && {
      orderTransactions: [{ orderId, orderLineItemId: lineItemId, quantityConsumed }],
    }),
  });
}

function consumableOf(source: Source, call: StoreCall, request: Consume): Purchase {
  const { account } = askedAbout(source, call, { service: 'collections', key: request.beneficiary.identityValue });
  const owned = purchasesOf(source.books, account, request.sbx).filter(({ item }) => item.kind !== 'Durable');
  const named = owned.filter((purchase) => isNamed(purchase, request));
  const replayed = named.find(({ consumed }) => Object.hasOwn(consumed, request.trackingId ?? ''));
  const purchase = replayed ?? named.find(({ item }) => item.status === 'Active' && item.quantity > 0);
  if (purchase === undefined) throw notFound('The user does not own enough of this consumable product.');
  return purchase;
}

const isNamed = ({ item, productId }: Purchase, request: Consume): boolean =>
  request.itemId !== undefined ? item.id === request.itemId.replaceAll('-', '') : productId === request.productId;

function consume({ books, now }: Source, purchase: Purchase, request: Consume): number {
  const { item, consumed } = purchase;
  const { trackingId = '', removeQuantity = 1 } = request;
  const earlier = consumed[trackingId];
  if (earlier !== undefined) return earlier.newQuantity;
  if (item.kind === 'UnmanagedConsumable' && request.removeQuantity !== undefined) {
    throw badRequest('removeQuantity: it is not for an unmanaged consumable');
  }
  if (removeQuantity > item.quantity) throw badRequest('removeQuantity: the balance is not sufficient');
  const newQuantity = item.quantity - removeQuantity;
  books.purchases.set(purchase.id, {
    ...purchase,
    item: { ...item, quantity: newQuantity, modifiedDate: now() },
    consumed: { ...consumed, ...(trackingId !== '' && { [trackingId]: { newQuantity } }) },
  });
  return newQuantity;
}
