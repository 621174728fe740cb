import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { hourMs } from '../calendar.ts';
import type { StoreNotification } from '../emulated-store.ts';
import type { OutgoingNotification } from '../outgoing-notification.ts';
import { app } from './app.ts';
import { Environment, getLatestTransaction } from './records.ts';
import { type ResponseContext, signRenewal, signTransaction } from './response-context.ts';
import { signJws } from './signed-data.ts';
import { statusCodes } from './statuses.ts';
import { getAccount } from './store-state.ts';

/** Each after the attempt before; in the sandbox there is one attempt. */
const retryDelaysMs = { Production: [1, 12, 24, 48, 72].map((hours) => hours * hourMs), Sandbox: [] } as const;

/** What a notification says of itself; a test knows its id before it is sent. */
const Native = v.object({
  notificationType: v.string(),
  subtype: v.exactOptional(v.string()),
  environment: Environment,
  notificationUUID: v.exactOptional(v.string()),
});

/** How the store posts a notification: signed once, so that every attempt and every copy has the same id. */
export function toOutgoingNotification(context: ResponseContext, message: StoreNotification): OutgoingNotification {
  const { environment, ...native } = v.parse(Native, message.native);
  const isProduction = environment === 'Production';
  // What the store says of the moment at which it happened, also when the clock has passed it in one go.
  const then: ResponseContext = { ...context, now: () => message.at };
  const payload = {
    notificationUUID: randomUUID(),
    ...native,
    version: '2.0',
    signedDate: message.at,
    data: {
      ...(isProduction && { appAppleId: app.appAppleId }),
      bundleId: app.bundleId,
      bundleVersion: app.version,
      environment,
      ...(native.notificationType !== 'TEST' && aboutPurchase(then, message)),
      ...(native.notificationType === 'CONSUMPTION_REQUEST' && { consumptionRequestReason: 'UNINTENDED_PURCHASE' }),
    },
  };
  return {
    body: JSON.stringify({ signedPayload: signJws(context.keys.signedData, payload) }),
    buildHeaders: () => ({ 'content-type': 'application/json', 'user-agent': 'App Store Server Notifications/2.0' }),
    retryDelaysMs: retryDelaysMs[environment],
    isDelivered: (status) => status >= 200 && status <= 206,
  };
}

function aboutPurchase(context: ResponseContext, { purchaseId, transactionId }: StoreNotification): object {
  const { state } = context;
  const purchase = state.purchases.get(purchaseId);
  if (purchase === undefined) throw new Error(`There is no purchase ${purchaseId} to notify of`);
  const transaction =
    purchase.transactions.find((one) => one.transactionId === transactionId) ?? getLatestTransaction(purchase);
  const found = { account: getAccount(state, purchase), purchase, transaction };
  return {
    signedTransactionInfo: signTransaction(context, found),
    ...(purchase.subscription && {
      signedRenewalInfo: signRenewal(context, found),
      status: statusCodes[purchase.subscription.state],
    }),
  };
}
