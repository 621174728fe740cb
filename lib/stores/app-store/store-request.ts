import { platformTokens } from '../../foundation/platform.ts';
import type { StoreNotification } from '../store.ts';
import type { StoreRequest } from '../store-request-contract.ts';
import { isSandboxToken, parseNotificationPayload } from './parse-notification.ts';
import { type VerificationContext, verifyAppTransaction } from './verification.ts';

const platform = platformTokens.appStore;

/**
 * Returns the request of a notification without a transaction, which is about a rescinded consent or an external
 * purchase token. Undefined for other notifications.
 * @see https://developer.apple.com/documentation/appstoreservernotifications/appdata
 * @see https://developer.apple.com/documentation/appstoreservernotifications/externalpurchasetoken
 */
export function toStoreRequest(
  notification: StoreNotification,
  verification: VerificationContext,
): StoreRequest | undefined {
  const { appTransaction: jws, externalPurchase } = parseNotificationPayload(notification);
  const { type: notificationType } = notification;
  if (jws !== undefined) {
    const { appTransactionId, receiptType } = verifyAppTransaction(jws, verification);
    if (appTransactionId === undefined) return undefined;
    const isSandbox = receiptType !== 'Production';
    return { type: 'consent.rescinded', notificationType, platform, isSandbox, appTransactionId };
  }
  if (!externalPurchase) return undefined;
  const { externalPurchaseId, tokenCreationDate } = externalPurchase;
  return {
    type: 'external-purchase.token',
    notificationType,
    platform,
    isSandbox: isSandboxToken(externalPurchaseId),
    externalPurchaseId,
    ...(tokenCreationDate !== undefined && { tokenCreatedAt: new Date(tokenCreationDate).toISOString() }),
  };
}
