import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { Observation } from '../../purchases/observation.ts';
import { bare } from '../../purchases/platform.ts';
import type { Asking, Validation } from '../store.ts';
import { beneficiaryOf } from './collections.ts';
import { RefreshToken } from './refresh-token.ts';
import { askService } from './service-call.ts';
import { type Session, sessionOf } from './session.ts';
import { readKey } from './store-id-key.ts';
import { keyNeeded } from './ticket.ts';

const Consumed = v.object({ newQuantity: v.number() });

/** Consumes what was validated, where the settings say so, and tells what is left of it. */
export async function consumeValidated(
  { observations, purchaseId, native }: Validation,
  asking: Asking,
): Promise<readonly Observation[]> {
  const session = sessionOf(asking);
  const observed = observations.find(({ purchase }) => purchase.purchaseId === purchaseId);
  if (!session.settings.consume || !observed || !isConsumable(observed)) return [];
  const kind = native.productKind ?? native.productType;
  const newQuantity = await consume(session, observed, { isManaged: kind === 'Consumable', app: asking.app });
  const purchase = { ...observed.purchase, quantity: newQuantity, isConsumed: newQuantity === 0 };
  // Later than the look that it follows, even within the same millisecond.
  return [{ ...observed, asOf: Math.max(session.now(), observed.asOf + 1), purchase }];
}

const isConsumable = ({ purchase }: Observation): boolean =>
  purchase.productType === 'consumable' && purchase.isConsumed === false && purchase.endedAt === undefined;

async function consume(
  session: Session,
  { purchase, refreshToken }: Observation,
  { isManaged, app }: { isManaged: boolean; app: string },
): Promise<number> {
  const { collectionsKey = '', productId, sandboxId } = v.parse(RefreshToken, refreshToken);
  const body = {
    beneficiary: beneficiaryOf(readKey(collectionsKey, 'collections', session)),
    productId,
    trackingId: trackingId(app, bare(purchase.purchaseId), bare(purchase.transactionId)),
    // The whole balance; what the developer manages has none, and the store refuses a number for it.
    ...(isManaged && { removeQuantity: purchase.quantity ?? 1 }),
    ...(sandboxId !== undefined && { sbx: sandboxId }),
  };
  const answer = await askService(
    session,
    { service: 'collections', path: '/v8.0/collections/consume', body },
    Consumed,
  );
  if (answer.kind !== 'found') throw keyNeeded('collections');
  return answer.value.newQuantity;
}

/** The same for every try to consume the same purchase, so that the store consumes it once. */
function trackingId(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const version = `8${hex.slice(13, 16)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), version, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');
}
