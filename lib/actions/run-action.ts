import type { ContractBody, ContractResponse } from '../api/contract.ts';
import { ServiceError } from '../foundation/errors.ts';
import { toIso } from '../foundation/time.ts';
import { findPurchase, requirePurchase } from '../purchases/purchase-table.ts';
import { toPurchaseDetails } from '../purchases/to-records.ts';
import type { actOnPurchase } from './contract.ts';
import { type ActionContext, checkAction, performAction } from './perform-action.ts';

/** Performs an action or, for a dry run, checks it. Returns the purchase as the store reports it afterwards. */
export async function runAction(
  context: ActionContext,
  purchaseId: string,
  { dryRun = false, idempotencyKey, ...input }: ContractBody<typeof actOnPurchase>,
): Promise<ContractResponse<typeof actOnPurchase>> {
  const { action, reason } = input;
  const common = { purchaseId, action, reason, dryRun };
  if (dryRun) {
    const { effect, storeAnswer = null } = await checkAction(context, purchaseId, input);
    const purchase = await readPurchase(context, purchaseId);
    return { ...common, effect, performedAt: null, performedBy: null, storeAnswer, isConfirmed: null, purchase };
  }
  if (idempotencyKey === undefined)
    throw new ServiceError(
      'InvalidPayload',
      'idempotencyKey is missing: the same text for each attempt of the action.',
    );
  const outcome = await performAction(context, purchaseId, { ...input, idempotencyKey });
  const { effect, performedAt, performedBy, storeAnswer = null, isConfirmed } = outcome;
  return {
    ...common,
    effect,
    performedAt: toIso(performedAt),
    performedBy,
    storeAnswer,
    isConfirmed,
    purchase: await readPurchase(context, purchaseId),
  };
}

async function readPurchase({ app, service }: ActionContext, purchaseId: string) {
  const stored = await findPurchase(service, app.name, purchaseId);
  requirePurchase(stored);
  return toPurchaseDetails(stored.purchase, stored.entitledUsers, { now: service.now() });
}
