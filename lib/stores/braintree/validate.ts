import { createHmac } from 'node:crypto';
import type { BraintreeGateway } from 'braintree';
import { isUnpaid, type Purchase } from '../../purchases/purchase.ts';
import { ServiceError } from '../../shared/errors.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { type EpochMillis, minuteMs } from '../../shared/time.ts';
import { lastVerifiedWarning } from '../api-errors.ts';
import type { StoreValidation, ValidationRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { createGateway } from './braintree-client.ts';
import { type ChargeOutcome, type ChargeRecord, charge, recoverCharge } from './charge.ts';
import { createMappingContext } from './mapping-context.ts';
import { type Order, parseOrder, priceOrder } from './order.ts';
import { toPrefixedId } from './payment-observation.ts';
import { fetchPurchaseObjects, type PurchaseObjects, toObservation } from './refresh.ts';

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
    return { ...outcome, ...omitUndefined({ buyer }), productId, at: context.now() };
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
  return await toValidation(state, { record, context, isBuyer });
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
  { productId, declineMessage, subscription, transaction }: ChargeRecord,
  { id }: ValidationRequest,
): PurchaseObjects {
  if (productId !== id) throw new ServiceError('InvalidPayload', 'paymentMethodNonce was used for another product.');
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
  /** Whether the request names the buyer. Another user needs the current state. */
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
  if (isBuyer && isRecent && !isUnpaid(toRecordedPurchase(recordedState, { record, context }))) return recordedState;
  try {
    return { objects: await fetchPurchaseObjects(gateway, ids), asOf: context.now() };
  } catch (error) {
    if (isBuyer && error instanceof ServiceError && error.code === 'ConnectionFailed') {
      return { ...recordedState, warning: lastVerifiedWarning };
    }
    throw error;
  }
}

/** Returns the purchase as it was recorded. A pending payment can be completed at any time, so its state is queried. */
const toRecordedPurchase = (
  { objects, asOf }: PurchaseSnapshot,
  { record: { productId, customerId }, context }: Pick<ReplayContext, 'record' | 'context'>,
): Purchase => toObservation(objects, createMappingContext(context, { productId, customerId, asOf })).purchase;

const getId = (objects: PurchaseObjects): string =>
  'subscription' in objects ? objects.subscription.id : objects.transaction.id;

async function toValidation(
  { objects, asOf, warning }: PurchaseSnapshot,
  { record, context, isBuyer }: Omit<ReplayContext, 'gateway'>,
): Promise<StoreValidation> {
  const { productId, customerId } = record;
  const mapping = createMappingContext(context, { productId, customerId, asOf });
  const reference = isBuyer && customerId !== undefined ? await context.getVaultReference?.(customerId) : undefined;
  return {
    id: productId,
    scope: 'product',
    observations: [toObservation(objects, mapping)],
    purchaseId: toPrefixedId(getId(objects)),
    nativeTransaction: {
      data: { success: true, transaction: { ...toNativePayment(objects), customer: omitUndefined({ id: reference }) } },
    },
    ineligibleForIntroPrice: [],
    ...(warning !== undefined && { warning }),
  };
}

/** Returns the payment for the client. Clients read the customer from it, but a trial does not have a payment yet. */
function toNativePayment(objects: PurchaseObjects): object {
  if ('transaction' in objects) return objects.transaction;
  const { id, transactions } = objects.subscription;
  return transactions[0] ?? { id, status: 'authorized' };
}
