import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { Observation } from '../../purchases/observation.ts';
import { parse } from '../../shared/parse.ts';
import { withoutPlatform } from '../../shared/platform.ts';
import { toUuid } from '../../shared/to-uuid.ts';
import type { FulfillmentRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { getFulfillBudgetMs } from '../time-budget.ts';
import { toBeneficiary } from './collections.ts';
import { RefreshToken } from './refresh-token.ts';
import { defaultBudgetMs } from './request-budget.ts';
import { missingKeyError } from './service-ticket.ts';
import { createSession, type MicrosoftSession } from './session.ts';
import { parseStoreIdKey } from './store-id-key.ts';
import { callService } from './store-service-api.ts';

const ConsumeResponse = v.object({ newQuantity: v.number() });

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
  const newQuantity = await consume(session, observation, { isManaged, appName: context.appName });
  const purchase = { ...observation.purchase, quantity: newQuantity, isConsumed: newQuantity === 0 };
  // Newer than the validated observation, even within the same millisecond.
  return [{ ...observation, asOf: Math.max(session.now(), observation.asOf + 1), purchase }];
}

/** Whether the observation is a consumable that the customer still owns. */
export const needsConsumption = ({ purchase }: Pick<Observation, 'purchase'>): boolean =>
  purchase.productType === 'consumable' && purchase.isConsumed === false && purchase.endedAt === undefined;

async function consume(
  session: MicrosoftSession,
  { purchase, refreshToken }: Observation,
  { isManaged, appName }: { readonly isManaged: boolean; readonly appName: string },
): Promise<number> {
  const { collectionsKey = '', productId, sandboxId } = parse(RefreshToken, refreshToken, 'InternalError');
  const body = {
    beneficiary: toBeneficiary(parseStoreIdKey(collectionsKey, 'collections', session)),
    productId,
    trackingId: deriveTrackingId(
      appName,
      withoutPlatform(purchase.purchaseId),
      withoutPlatform(purchase.transactionId),
    ),
    // The whole balance of a store-managed consumable. The store rejects a quantity for a developer-managed one.
    ...(isManaged && { removeQuantity: purchase.quantity ?? 1 }),
    ...(sandboxId !== undefined && { sbx: sandboxId }),
  };
  const result = await callService(
    session,
    { service: 'collections', path: '/v8.0/collections/consume', body },
    ConsumeResponse,
  );
  if (result.kind !== 'found') throw missingKeyError('collections');
  return result.value.newQuantity;
}

/** Derives the idempotency key of a consumption: a version 8 UUID that is equal in every attempt. */
function deriveTrackingId(...parts: readonly string[]): string {
  return toUuid(createHash('sha256').update(JSON.stringify(parts)).digest('hex'), 8);
}
