import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { Observation } from '../../purchases/observation.ts';
import { withoutPlatform } from '../../shared/platform.ts';
import type { StoreValidation } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { toBeneficiary } from './collections.ts';
import { RefreshToken } from './refresh-token.ts';
import { missingKeyError } from './service-ticket.ts';
import { createSession, type MicrosoftSession } from './session.ts';
import { parseStoreIdKey } from './store-id-key.ts';
import { callService } from './store-service-api.ts';

const ConsumeResponse = v.object({ newQuantity: v.number() });

/** Consumes what was validated, where the settings say so, and tells what is left of it. */
export async function fulfill(
  { observations, purchaseId, nativeTransaction }: StoreValidation,
  context: StoreContext,
): Promise<readonly Observation[]> {
  const session = createSession(context);
  const observed = observations.find(({ purchase }) => purchase.purchaseId === purchaseId);
  if (!session.settings.consume || !observed || !isConsumable(observed)) return [];
  const kind = nativeTransaction.productKind ?? nativeTransaction.productType;
  const newQuantity = await consume(session, observed, { isManaged: kind === 'Consumable', appName: context.appName });
  const purchase = { ...observed.purchase, quantity: newQuantity, isConsumed: newQuantity === 0 };
  // Later than the look that it follows, even within the same millisecond.
  return [{ ...observed, asOf: Math.max(session.now(), observed.asOf + 1), purchase }];
}

const isConsumable = ({ purchase }: Observation): boolean =>
  purchase.productType === 'consumable' && purchase.isConsumed === false && purchase.endedAt === undefined;

async function consume(
  session: MicrosoftSession,
  { purchase, refreshToken }: Observation,
  { isManaged, appName }: { isManaged: boolean; appName: string },
): Promise<number> {
  const { collectionsKey = '', productId, sandboxId } = v.parse(RefreshToken, refreshToken);
  const body = {
    beneficiary: toBeneficiary(parseStoreIdKey(collectionsKey, 'collections', session)),
    productId,
    trackingId: deriveTrackingId(
      appName,
      withoutPlatform(purchase.purchaseId),
      withoutPlatform(purchase.transactionId),
    ),
    // The whole balance; what the developer manages has none, and the store refuses a number for it.
    ...(isManaged && { removeQuantity: purchase.quantity ?? 1 }),
    ...(sandboxId !== undefined && { sbx: sandboxId }),
  };
  const response = await callService(
    session,
    { service: 'collections', path: '/v8.0/collections/consume', body },
    ConsumeResponse,
  );
  if (response.kind !== 'found') throw missingKeyError('collections');
  return response.value.newQuantity;
}

/** The same for every try to consume the same purchase, so that the store consumes it once. */
function deriveTrackingId(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const version = `8${hex.slice(13, 16)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), version, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');
}
