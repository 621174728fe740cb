import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { parse } from '../../foundation/parse.ts';
import { platformTokens, withoutPlatform, withPlatform } from '../../foundation/platform.ts';
import type { Observation } from '../../purchases/observation.ts';
import { withClawbackEnd } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { toUuid } from '../../purchases/user-aliases.ts';
import { lenientOptional } from '../parse-response.ts';
import type { FulfillmentRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { getFulfillBudgetMs } from '../time-budget.ts';
import { toBeneficiary } from './collections.ts';
import { RefreshToken } from './refresh-token.ts';
import { missingKeyError } from './service-ticket.ts';
import { createSession, defaultBudgetMs, type MicrosoftSession } from './session.ts';
import { parseStoreIdKey } from './store-id-key.ts';
import { callService } from './store-service-api.ts';

const ConsumeResponse = v.object({
  newQuantity: v.number(),
  orderTransactions: lenientOptional(v.array(v.object({ orderId: v.string(), quantityConsumed: v.number() }))),
});
type ConsumeResponse = v.InferOutput<typeof ConsumeResponse>;

/**
 * Consumes the consumable of a validation if the settings say so. Returns it with the remaining quantity.
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/report-consumable-products-as-fulfilled
 */
export async function fulfill(
  { observations, purchaseId, nativeTransaction = {}, fulfillDeadline }: FulfillmentRequest,
  context: StoreContext,
): Promise<readonly Observation[]> {
  if (purchaseId === undefined) return [];
  const budgetMs = getFulfillBudgetMs(fulfillDeadline, defaultBudgetMs, context.stopwatch);
  const session = createSession(context, { budgetMs });
  const observation = observations.find(({ purchase }) => purchase.purchaseId === purchaseId);
  if (!session.settings.consume || !observation || !needsConsumption(observation)) return [];
  const kind = nativeTransaction.productKind ?? nativeTransaction.productType;
  const isManaged = kind === 'Consumable';
  const response = await consume(session, observation, { isManaged, appName: context.appName });
  const { newQuantity } = response;
  const purchase = { ...observation.purchase, quantity: newQuantity, isConsumed: newQuantity === 0 };
  const otherPayments = await listOtherPayments(observation, response, context);
  return [
    {
      ...observation,
      // Newer than the validated observation, even within the same millisecond.
      asOf: Math.max(session.now(), observation.asOf + 1),
      purchase,
      transactions: [...observation.transactions, ...otherPayments],
    },
  ];
}

/** The observation is a consumable that the customer still owns. The store can list it for hours after a return. */
export function needsConsumption({
  purchase,
  transactions,
  asOf,
}: Pick<Observation, 'purchase' | 'transactions' | 'asOf'>): boolean {
  const { productType, isConsumed } = purchase;
  const { endedAt } = withClawbackEnd(purchase, findLatest({ purchase, transactions }), asOf);
  return productType === 'consumable' && isConsumed === false && endedAt === undefined;
}

const findLatest = ({ purchase, transactions }: Pick<Observation, 'purchase' | 'transactions'>) =>
  transactions.find(({ transactionId }) => transactionId === purchase.transactionId);

/**
 * Lists the payments of the balance that no validation observed: the collection contains the latest order only. Ids
 * that do not include the latest order are not comparable with it.
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/microsoft-store-apis/xstore-v8-consume
 * @see https://github.com/microsoft/Microsoft-Store-Services
 */
async function listOtherPayments(
  { purchase, transactions }: Observation,
  { orderTransactions }: ConsumeResponse,
  { listTransactions }: Pick<StoreContext, 'listTransactions'>,
): Promise<Transaction[]> {
  const orders = (orderTransactions ?? []).map(({ orderId, quantityConsumed: quantity }) => ({
    transactionId: withPlatform(platformTokens.microsoftStore, orderId),
    quantity,
  }));
  const latest = findLatest({ purchase, transactions });
  const isLatestOrder = ({ transactionId }: { transactionId: string }) => transactionId === latest?.transactionId;
  if (!latest || orders.length < 2 || !orders.some(isLatestOrder)) return [];
  const stored = (await listTransactions?.(purchase.purchaseId)) ?? [];
  const knownIds = new Set([latest, ...stored].map(({ transactionId }) => transactionId));
  // A refresh lacks a price: only the client of the validation reports it.
  const { currency, amountMicros, isReportedAmount } = stored.find(isLatestOrder) ?? latest;
  const payment = { ...latest, ...omitUndefined({ currency, amountMicros, isReportedAmount }) };
  return orders.filter(({ transactionId }) => !knownIds.has(transactionId)).map((order) => ({ ...payment, ...order }));
}

/**
 * Adds the payments of a balance that this service consumed in a request whose response was lost. The repeated request
 * consumes nothing again and returns the same orders.
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/microsoft-store-apis/xstore-v8-consume
 */
export async function withConsumedOrders(observation: Observation, context: StoreContext): Promise<Observation> {
  const { purchase, transactions } = observation;
  if (purchase.isConsumed !== true) return observation;
  const stored = await context.findPurchase?.(purchase.purchaseId);
  const { quantity } = stored?.serviceConsumption?.before ?? {};
  if (!stored || stored.isConsumed || stored.transactionId !== purchase.transactionId || quantity === undefined)
    return observation;
  const consumed = { ...observation, purchase: { ...purchase, quantity } };
  const response = await consume(createSession(context), consumed, { isManaged: true, appName: context.appName }).catch(
    ignoreRejection,
  );
  return response
    ? { ...observation, transactions: [...transactions, ...(await listOtherPayments(observation, response, context))] }
    : observation;
}

/** A device can have consumed the balance. Only a store that is unavailable is queried again. */
function ignoreRejection(error: unknown): undefined {
  if (!(error instanceof ServiceError) || error.code === 'ConnectionFailed') throw error;
}

async function consume(
  session: MicrosoftSession,
  { purchase, transactions, refreshToken }: Observation,
  { isManaged, appName }: { readonly isManaged: boolean; readonly appName: string },
): Promise<ConsumeResponse> {
  const { collectionsKey = '', productId, sandboxId } = parse(RefreshToken, refreshToken, 'InternalError');
  const body = {
    beneficiary: toBeneficiary(parseStoreIdKey(collectionsKey, 'collections', session)),
    productId,
    trackingId: deriveTrackingId(
      appName,
      withoutPlatform(purchase.purchaseId),
      withoutPlatform(purchase.transactionId),
      ...(isManaged ? [] : listReversals(findLatest({ purchase, transactions }))),
    ),
    // The whole balance of a store-managed consumable. The store rejects a quantity for a developer-managed one.
    ...(isManaged && { removeQuantity: purchase.quantity ?? 1, includeOrderIds: true }),
    ...(sandboxId !== undefined && { sbx: sandboxId }),
  };
  const result = await callService(
    session,
    { service: 'collections', path: '/v8.0/collections/consume', body },
    ConsumeResponse,
  );
  if (result.kind !== 'found') throw missingKeyError('collections');
  return result.value;
}

/**
 * Lists the reversed chargebacks of a payment. Each restores a developer-managed consumable, even if it was consumed.
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/xstore-managing-refunds-and-chargebacks
 */
const listReversals = ({ clawbacks = {} }: Partial<Transaction> = {}): string[] =>
  Object.keys(clawbacks)
    .filter((id) => clawbacks[id]?.isReversal)
    .sort();

/** Derives the idempotency key of a consumption: a version 8 UUID that is equal in every attempt. */
function deriveTrackingId(...parts: readonly string[]): string {
  return toUuid(createHash('sha256').update(JSON.stringify(parts)).digest('hex'), 8);
}
