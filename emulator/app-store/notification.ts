import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { hourMs } from '../calendar.ts';
import type { StoreNotification } from '../emulated-store.ts';
import type { OutgoingNotification } from '../outgoing-notification.ts';
import { app } from './app.ts';
import { Environment, getLatestTransaction } from './records.ts';
import { type ResponseContext, signPayload, signRenewal, signTransaction } from './response-context.ts';
import { statusCodes } from './statuses.ts';
import { getAccount } from './store-state.ts';

/**
 * Delays after the previous attempt. In the sandbox the App Store sends a notification once.
 *
 * @see https://developer.apple.com/documentation/appstoreservernotifications/responding-to-app-store-server-notifications
 */
const retryDelaysMs = { Production: [1, 12, 24, 48, 72].map((hours) => hours * hourMs), Sandbox: [] } as const;

/** Notification type and environment. The id of a test notification is set before it is sent. */
const Native = v.object({
  notificationType: v.string(),
  subtype: v.exactOptional(v.string()),
  environment: Environment,
  notificationUUID: v.exactOptional(v.string()),
  consumptionRequestReason: v.exactOptional(v.string()),
});

/** Builds the HTTP request of a notification. It is signed once, so all attempts and copies have the same id. */
export function toOutgoingNotification(
  context: ResponseContext,
  notification: StoreNotification,
): OutgoingNotification {
  const { environment, consumptionRequestReason, ...native } = v.parse(Native, notification.native);
  const isProduction = environment === 'Production';
  // The content is the state at the time of the change. The clock can be later if it was moved by a long period.
  const contextAtChange: ResponseContext = { ...context, now: () => notification.at };
  const payload = {
    notificationUUID: randomUUID(),
    ...native,
    version: '2.0',
    signedDate: notification.at,
    data: {
      ...(isProduction && { appAppleId: app.appAppleId }),
      bundleId: app.bundleId,
      bundleVersion: app.version,
      environment,
      ...(native.notificationType !== 'TEST' && buildPurchaseData(contextAtChange, notification)),
      ...(consumptionRequestReason !== undefined && { consumptionRequestReason }),
    },
  };
  return {
    body: JSON.stringify({ signedPayload: signPayload(context.keys, payload) }),
    buildHeaders: () => ({ 'content-type': 'application/json', 'user-agent': 'App Store Server Notifications/2.0' }),
    retryDelaysMs: retryDelaysMs[environment],
    isDelivered: (status) => status >= 200 && status <= 206,
  };
}

function buildPurchaseData(context: ResponseContext, { purchaseId, transactionId }: StoreNotification): object {
  const { state } = context;
  const purchase = state.purchases.get(purchaseId);
  if (purchase === undefined) throw new Error(`There is no purchase ${purchaseId} of the notification`);
  const transaction =
    purchase.transactions.find((candidate) => candidate.transactionId === transactionId) ??
    getLatestTransaction(purchase);
  const owned = { account: getAccount(state, purchase), purchase, transaction };
  return {
    signedTransactionInfo: signTransaction(context, owned),
    ...(purchase.subscription && {
      signedRenewalInfo: signRenewal(context, owned),
      status: statusCodes[purchase.subscription.state],
    }),
  };
}
