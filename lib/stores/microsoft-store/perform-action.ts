import { ServiceError } from '../../foundation/errors.ts';
import { parse } from '../../foundation/parse.ts';
import { withoutPlatform } from '../../foundation/platform.ts';
import { type ActionRequest, rejectedActionError, type StoreAction, type StoreAnswer } from '../purchase-action.ts';
import type { StoreContext } from '../store-context.ts';
import { storeName } from './api-errors.ts';
import { renewKeys } from './key-renewal.ts';
import { saveExtension } from './known-period.ts';
import { parseTimestamp, RecurrenceItem } from './payloads.ts';
import { RefreshToken } from './refresh-token.ts';
import { missingKeyError } from './service-ticket.ts';
import { createSession } from './session.ts';
import { callService } from './store-service-api.ts';

/** `Cancel` prevents a renewal, too, but ToggleAutoRenew leaves the subscription in its state. */
const changeTypes: Partial<Readonly<Record<StoreAction, string>>> = {
  refund: 'Refund',
  cancel: 'ToggleAutoRenew',
  extend: 'Extend',
};

/**
 * Changes a subscription on behalf of the customer whose key was received last. Throws `Conflict` if Microsoft rejects
 * it.
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/change-the-billing-state-of-a-subscription-for-a-user
 */
export async function performAction(
  { action, purchase, days, refreshToken }: ActionRequest,
  context: StoreContext,
): Promise<StoreAnswer> {
  const session = createSession(context);
  const { purchaseKey, sandboxId } = await renewKeys(session, parse(RefreshToken, refreshToken));
  if (purchaseKey === undefined) throw rejectedActionError(storeName, 'the purchase has no key of its customer.');
  const id = encodeURIComponent(withoutPlatform(purchase.purchaseId));
  const body = {
    b2bKey: purchaseKey,
    changeType: changeTypes[action],
    ...(action === 'extend' && { extensionTimeInDays: days }),
    ...(sandboxId !== undefined && { sbx: sandboxId }),
  };
  const call = { service: 'purchase', path: `/v8.0/b2b/recurrences/${id}/change`, body } as const;
  const result = await callService(session, call, RecurrenceItem).catch(toRejection);
  if (result.kind !== 'found') throw missingKeyError('purchase');
  const { recurrenceState, expirationTime } = result.value;
  const end = parseTimestamp(expirationTime);
  if (action === 'extend' && end !== undefined) await saveExtension(purchase.purchaseId, end, context);
  return {
    status: recurrenceState ?? 'changed',
    ...(end !== undefined && { until: new Date(end).toISOString() }),
  };
}

/** Microsoft returns HTTP 400 for a change that it does not make. */
function toRejection(error: unknown): never {
  if (error instanceof ServiceError && error.code === 'InvalidPayload')
    throw rejectedActionError(storeName, 'the subscription cannot be changed.');
  throw error;
}
