import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { hourMs } from '../calendar.ts';
import type { StoreNotification } from '../emulated-store.ts';
import type { OutgoingNotification } from '../outgoing-notification.ts';
import { app } from './app.ts';
import { Environment, getLatestTransaction, type Purchase } from './records.ts';
import {
  type ResponseContext,
  signAppTransaction,
  signPayload,
  signRenewal,
  signTransaction,
} from './response-context.ts';
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
  externalPurchaseToken: v.exactOptional(v.object({ externalPurchaseId: v.string(), tokenCreationDate: v.number() })),
  summary: v.exactOptional(v.looseObject({ productId: v.string() })),
});
type Native = v.InferOutput<typeof Native>;

/** Builds the HTTP request of a notification. It is signed once, so all attempts and copies have the same id. */
export function toOutgoingNotification(
  context: ResponseContext,
  notification: StoreNotification,
): OutgoingNotification {
  const native = v.parse(Native, notification.native);
  // The content is the state at the time of the change. The clock can be later if it was moved by a long period.
  const contextAtChange: ResponseContext = { ...context, now: () => notification.at };
  const payload = {
    notificationType: native.notificationType,
    ...(native.subtype !== undefined && { subtype: native.subtype }),
    notificationUUID: native.notificationUUID ?? randomUUID(),
    version: '2.0',
    signedDate: notification.at,
    ...buildContent(contextAtChange, native, notification),
  };
  return {
    body: JSON.stringify({ signedPayload: signPayload(context.keys, payload) }),
    buildHeaders: () => ({ 'content-type': 'application/json', 'user-agent': 'App Store Server Notifications/2.0' }),
    retryDelaysMs: retryDelaysMs[native.environment],
    isDelivered: (status) => status >= 200 && status <= 206,
  };
}

/**
 * Builds the one member with the content.
 *
 * @see https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload
 */
function buildContent(
  context: ResponseContext,
  { notificationType, environment, consumptionRequestReason, externalPurchaseToken, summary }: Native,
  notification: StoreNotification,
): object {
  const appIds = { ...(environment === 'Production' && { appAppleId: app.appAppleId }), bundleId: app.bundleId };
  if (externalPurchaseToken)
    return { externalPurchaseToken: { ...toExternalToken(externalPurchaseToken, environment), ...appIds } };
  if (summary) return { summary: { environment, ...appIds, ...summary } };
  if (notificationType === 'RESCIND_CONSENT')
    return { appData: { ...appIds, environment, signedAppTransactionInfo: signCustomer(context, notification) } };
  return {
    data: {
      ...appIds,
      bundleVersion: app.version,
      environment,
      ...(notificationType !== 'TEST' && buildPurchaseData(context, notification)),
      ...(consumptionRequestReason !== undefined && { consumptionRequestReason }),
    },
  };
}

/**
 * A sandbox token has a prefix in its id instead of an environment.
 * @see https://developer.apple.com/documentation/appstoreservernotifications/externalpurchaseid
 */
const toExternalToken = (
  { externalPurchaseId, ...token }: NonNullable<Native['externalPurchaseToken']>,
  environment: Environment,
): object => ({
  externalPurchaseId: environment === 'Sandbox' ? `SANDBOX_${externalPurchaseId}` : externalPurchaseId,
  ...token,
});

const signCustomer = (context: ResponseContext, { purchaseId }: StoreNotification): string =>
  signAppTransaction(context, getAccount(context.state, requirePurchase(context, purchaseId)));

function requirePurchase({ state }: ResponseContext, purchaseId: string): Purchase {
  const purchase = state.purchases.get(purchaseId);
  if (purchase === undefined) throw new Error(`There is no purchase ${purchaseId} of the notification`);
  return purchase;
}

function buildPurchaseData(context: ResponseContext, { purchaseId, transactionId }: StoreNotification): object {
  const { state } = context;
  const purchase = requirePurchase(context, purchaseId);
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
