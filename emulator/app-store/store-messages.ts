import { randomUUID } from 'node:crypto';
import { controlError } from '../control-error.ts';
import { requireSubscription } from '../purchase-checks.ts';
import { buildNotificationType, type Transition, type TransitionContext } from './purchase-transition.ts';
import type { Purchase } from './records.ts';

/**
 * A parent withdraws the consent for the customer's use of the app. The purchases do not change.
 *
 * @see https://developer.apple.com/documentation/appstoreservernotifications/appdata
 */
export const rescindConsent = (purchase: Purchase): Transition => ({
  purchase,
  notifications: [buildNotificationType('RESCIND_CONSENT')],
});

const tokenSubtypes = ['UNREPORTED', 'CREATED', 'ACTIVE_TOKEN_REMINDER'];

/**
 * Reminds the developer to report an external purchase token.
 *
 * @see https://developer.apple.com/documentation/appstoreservernotifications/externalpurchasetoken
 */
export function remindOfExternalPurchase(
  purchase: Purchase,
  { at }: TransitionContext,
  subtype = 'UNREPORTED',
): Transition {
  if (!tokenSubtypes.includes(subtype)) throw controlError(400, `reason: expected one of ${tokenSubtypes.join(', ')}.`);
  const externalPurchaseToken = { externalPurchaseId: randomUUID(), tokenCreationDate: at };
  return {
    purchase,
    notifications: [{ ...buildNotificationType('EXTERNAL_PURCHASE_TOKEN', subtype), externalPurchaseToken }],
  };
}

/**
 * Reports a change that the developer made to a subscription of the Advanced Commerce API. It changes neither the
 * access nor a payment.
 *
 * @see https://developer.apple.com/documentation/appstoreservernotifications/notificationtype
 */
export function reportDeveloperChange(
  purchase: Purchase,
  notificationType: 'METADATA_UPDATE' | 'MIGRATION' | 'PRICE_CHANGE',
): Transition {
  requireSubscription(purchase);
  return { purchase, notifications: [buildNotificationType(notificationType)] };
}
