import { createHmac } from 'node:crypto';
import type { BraintreeGateway } from 'braintree';
import { ServiceError } from '../../foundation/errors.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { type EpochMillis, minuteMs } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import { isUnpaid, type Purchase } from '../../purchases/purchase.ts';
import { lastVerifiedWarning } from '../last-verified-warning.ts';
import type { StoreValidation, ValidationRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { createGateway } from './braintree-client.ts';
import { type CartItem, resolveCart } from './cart.ts';
import { type ChargeOutcome, type ChargeRecord, charge, recoverCharge } from './charge.ts';
import { createMappingContext } from './mapping-context.ts';
import { toMicros } from './money.ts';
import { type Order, parseOrder, priceOrder } from './order.ts';
import { toPrefixedId } from './payment-observation.ts';
import { fetchPurchaseObjects, type PurchaseObjects, toObservations } from './refresh.ts';
import { parseStoredSettings } from './settings.ts';

/** A repeated validation by the buyer returns the stored state without a call of Braintree if it is newer. */
const maxStateAgeMs = 3 * minuteMs;

/** Charges a nonce at most once. Returns the purchase that it paid for, in its current state. */
export async function validate(request: ValidationRequest, context: StoreContext): Promise<StoreValidation> {
  const order = parseOrder(request, context);
  const gateway = await createGateway(context);
  const { productId } = order;
  const buyer = toBuyerDigest(request, order);
  let isNew = false;
  const toChargeRecord = (outcome: ChargeOutcome): ChargeRecord => {
    isNew = true;
    const items = listCartItems(outcome, order, context);
    return { ...outcome, ...omitUndefined({ buyer, items }), productId, at: context.now() };
  };
  const record = await context.runOnce<ChargeRecord>(
    order.key,
    async () => toChargeRecord(await charge(gateway, priceOrder(order, request, context))),
    async () => {
      const outcome = await recoverCharge(gateway, order);
      return outcome && toChargeRecord(outcome);
    },
  );
  const purchase = requirePurchase(record, request);
  const isBuyer = record.buyer === buyer;
  const state = isNew
    ? { objects: purchase, asOf: record.at }
    : await loadState(purchase, { gateway, context, record, isBuyer });
  return await toValidation(state, { record, context, isBuyer, requestedId: request.id });
}

/**
 * Lists the products of a charged cart. Returns undefined for one unit of the product, and for a cart that is not
 * certain.
 */
function listCartItems(
  { transaction }: ChargeOutcome,
  { productId }: Order,
  { settings }: StoreContext,
): CartItem[] | undefined {
  const { catalogue } = parseStoredSettings(settings);
  const items = transaction && resolveCart(toMicros(transaction.amount), productId, catalogue);
  const isCart = items && (items.length > 1 || items.some(({ quantity }) => quantity > 1));
  return isCart ? items : undefined;
}

/**
 * Returns a digest of the username that only the holder of the nonce can compute, so that the stored record does not
 * name the buyer. Undefined for an anonymous buyer.
 */
const toBuyerDigest = ({ applicationUsername }: ValidationRequest, { nonce }: Order): string | undefined =>
  applicationUsername === undefined
    ? undefined
    : createHmac('sha256', nonce).update(applicationUsername).digest('base64url');

/**
 * Returns the purchase of a charge record. Throws `InvalidPayload` if the payment was declined or paid for another
 * product.
 */
function requirePurchase(
  { productId, items = [], declineMessage, subscription, transaction }: ChargeRecord,
  { id }: ValidationRequest,
): PurchaseObjects {
  if (productId !== id && !items.some((item) => item.productId === id))
    throw new ServiceError('InvalidPayload', 'paymentMethodNonce was used for another product.');
  if (declineMessage !== undefined) throw new ServiceError('InvalidPayload', declineMessage);
  if (subscription) return { subscription, refunds: [] };
  if (transaction) return { transaction, refunds: [] };
  throw new ServiceError('InternalError', 'The payment is missing in the stored result.');
}

/** The objects of a purchase at a time. */
interface PurchaseSnapshot {
  readonly objects: PurchaseObjects;
  readonly asOf: EpochMillis;
  readonly warning?: string;
}

interface ReplayContext {
  readonly gateway: BraintreeGateway;
  readonly context: StoreContext;
  readonly record: ChargeRecord;
  /** Another user than the buyer needs the current state. */
  readonly isBuyer: boolean;
}

/**
 * Loads the state of a nonce that was charged before. During an outage, the buyer gets the recorded state with a
 * warning.
 */
async function loadState(
  recorded: PurchaseObjects,
  { gateway, context, record, isBuyer }: ReplayContext,
): Promise<PurchaseSnapshot> {
  const ids =
    'subscription' in recorded ? { subscription: recorded.subscription.id } : { transaction: recorded.transaction.id };
  const observedAt = (await context.findObservedAt?.(toPrefixedId(getId(recorded)))) ?? record.at;
  const recordedState = { objects: recorded, asOf: record.at };
  const isRecent = context.now() - observedAt < maxStateAgeMs;
  const isPaid = !toRecordedPurchases(recordedState, { record, context }).some(isUnpaid);
  if (isBuyer && isRecent && isPaid) return recordedState;
  try {
    return { objects: await fetchPurchaseObjects(gateway, ids, context), asOf: context.now() };
  } catch (error) {
    if (isBuyer && error instanceof ServiceError && error.code === 'ConnectionFailed') {
      return { ...recordedState, warning: lastVerifiedWarning };
    }
    throw error;
  }
}

/** Returns the purchase as it was recorded. A pending payment can be completed at any time, so its state is queried. */
const toRecordedPurchases = (
  snapshot: PurchaseSnapshot,
  { record, context }: Pick<ReplayContext, 'record' | 'context'>,
): Purchase[] => toRecordObservations(snapshot, record, context).map(({ purchase }) => purchase);

function toRecordObservations(
  { objects, asOf }: PurchaseSnapshot,
  { productId, items, customerId }: ChargeRecord,
  context: StoreContext,
): Observation[] {
  return toObservations(objects, createMappingContext(context, { productId, items, customerId, asOf }));
}

const getId = (objects: PurchaseObjects): string =>
  'subscription' in objects ? objects.subscription.id : objects.transaction.id;

async function toValidation(
  snapshot: PurchaseSnapshot,
  { record, context, isBuyer, requestedId }: Omit<ReplayContext, 'gateway'> & { readonly requestedId: string },
): Promise<StoreValidation> {
  const { objects, warning } = snapshot;
  const { customerId } = record;
  const observations = toRecordObservations(snapshot, record, context);
  const requested = observations.find(({ purchase }) => purchase.productId === toPrefixedId(requestedId));
  const reference = isBuyer && customerId !== undefined ? await context.getVaultReference?.(customerId) : undefined;
  return {
    id: requestedId,
    scope: 'product',
    observations,
    purchaseId: requested?.purchase.purchaseId ?? toPrefixedId(getId(objects)),
    nativeTransaction: {
      data: { success: true, transaction: { ...toNativePayment(objects), customer: omitUndefined({ id: reference }) } },
    },
    ineligibleForIntroPrice: [],
    ...omitUndefined({ warning }),
  };
}

/** Returns the payment for the client. Clients read the customer from it, but a trial does not have a payment yet. */
function toNativePayment(objects: PurchaseObjects): object {
  if ('transaction' in objects) return objects.transaction;
  const { id, transactions } = objects.subscription;
  return transactions[0] ?? { id, status: 'authorized' };
}
