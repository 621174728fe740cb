import { ServiceError } from '../../foundation/errors.ts';
import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import { compareAsOf } from '../../purchases/merge-transactions.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { ObservedNotification, StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import type { StoreRequest } from '../store-request-contract.ts';
import { connectAppStore, withRequestBudget } from './app-store-server-api.ts';
import type { TransactionGroup } from './group-by-purchase.ts';
import { getBaseType, toNotificationReason } from './notification-reason.ts';
import { isSandboxToken, parseNotificationPayload, verifySignedParts } from './parse-notification.ts';
import { refetchPurchase } from './refetch-purchase.ts';
import { toRefundOutcome, toRefundRequest } from './refund-request.ts';
import { type AppStoreSettings, getApiKey, parseStoredSettings } from './settings.ts';
import { fromSignedTransaction } from './signed-transaction.ts';
import { isLaterTransaction } from './store-transaction.ts';
import { toObservation } from './to-observation.ts';
import { reverseRefunds } from './transaction-refunds.ts';
import { createVerificationContext, type VerificationContext, verifyAppTransaction } from './verification.ts';
import {
  isNotificationCurrent,
  toCurrentGroup,
  toPastGroup,
  type VerifiedNotification,
} from './verified-notification.ts';

/**
 * Apple sends it repeatedly during a refund review to request consumption data. The purchase does not change.
 * @see https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information
 */
const consumptionRequestType = 'CONSUMPTION_REQUEST';

const platform = platformTokens.appStore;

/** Renewal intent that the customer chose, by notification. */
const changedIntents: Readonly<Record<string, Purchase['renewalIntent']>> = {
  'DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_ENABLED': 'Renew',
  'DID_CHANGE_RENEWAL_STATUS.AUTO_RENEW_DISABLED': 'Lapse',
};

interface ObservationContext {
  readonly settings: AppStoreSettings;
  readonly context: StoreContext;
  readonly verification: VerificationContext;
}

/**
 * Determines the current state by the App Store Server API, or by the signed parts of the notification if that is
 * impossible.
 */
export async function observe(
  storeNotification: StoreNotification,
  context: StoreContext,
): Promise<ObservedNotification> {
  const { type, occurredAt } = storeNotification;
  const reason = toNotificationReason(type);
  const settings = parseStoredSettings(context.settings);
  const verification = createVerificationContext(settings, context);
  const parts = verifySignedParts(storeNotification, verification);
  if (!parts) {
    const storeRequest = toStoreRequest(storeNotification, verification);
    return { reason, observations: [], ...(storeRequest && { storeRequest }) };
  }
  if (getBaseType(type) === consumptionRequestType) {
    const { consumptionRequestReason } = parseNotificationPayload(storeNotification);
    const refundRequest = toRefundRequest({
      transaction: parts.transaction,
      reason: consumptionRequestReason,
      occurredAt,
    });
    return { reason, observations: [], refundRequest };
  }
  const notification = { ...parts, type, occurredAt };
  const group = await determineCurrentGroup(notification, { settings, context, verification });
  const observation = toNotificationObservation(group ?? toPastGroup(notification), settings);
  const refundOutcome = toRefundOutcome(type, parts.transaction);
  return {
    reason,
    observations: [withTransactionFacts(withRenewalIntentChange(observation, notification), notification)],
    ...(refundOutcome && { refundOutcome }),
  };
}

/**
 * Returns the current transactions of the purchase. Returns undefined if the notification concerns a past period only.
 */
async function determineCurrentGroup(
  notification: VerifiedNotification,
  observationContext: ObservationContext,
): Promise<TransactionGroup | undefined> {
  const signed = isNotificationCurrent(notification) ? toCurrentGroup(notification) : undefined;
  const fetched = await tryRefetch(notification, observationContext);
  return fetched && (!signed || isLaterGroup(fetched, signed)) ? fetched : signed;
}

/** The API response is at least as new as the notification. API responses can lag behind notifications. */
function isLaterGroup(fetched: TransactionGroup, signed: TransactionGroup): boolean {
  if (fetched.latest.transactionId !== signed.latest.transactionId)
    return isLaterTransaction(fetched.latest, signed.latest);
  return compareAsOf(fetched, signed) >= 0;
}

/** Returns undefined without an API key and on errors of the API: the signed parts are sufficient. */
async function tryRefetch(
  notification: VerifiedNotification,
  { settings, context, verification }: ObservationContext,
): Promise<TransactionGroup | undefined> {
  try {
    const server = await connectAppStore(settings, { ...context, fetch: withRequestBudget(context) });
    if (!server) return undefined;
    return await refetchPurchase(notification, { server, environment: notification.environment, verification });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return undefined;
  }
}

const toNotificationObservation = (group: TransactionGroup, settings: AppStoreSettings): Observation =>
  toObservation(group, { requestDetails: {}, canRefresh: getApiKey(settings) !== undefined });

/**
 * Only the notification contains the date at which the customer changed the renewal intent. The customer can have
 * changed it back since, so the date belongs to the intent of the notification. The latest date takes precedence.
 * @see https://developer.apple.com/documentation/appstoreservernotifications/subtype
 */
function withRenewalIntentChange(observation: Observation, { type, occurredAt }: VerifiedNotification): Observation {
  const { purchase } = observation;
  const intent = Object.hasOwn(changedIntents, type) ? changedIntents[type] : undefined;
  if (purchase.renewalIntent === undefined || intent === undefined) return observation;
  const changeDate = intent === purchase.renewalIntent ? { renewalIntentChangeDate: occurredAt } : {};
  return { ...observation, purchase: { ...purchase, ...changeDate, renewalIntentDates: { [intent]: occurredAt } } };
}

/**
 * Only the notification states that an earlier refund does not count any longer, and that a purchase changed the plan
 * of a running subscription, whose current period can be unknown or in a grace period: it is not a renewal.
 * @see https://developer.apple.com/documentation/appstoreservernotifications/subtype
 */
function withTransactionFacts(
  observation: Observation,
  { type, occurredAt, transaction: payload }: VerifiedNotification,
): Observation {
  const { saleId, transactionId } = fromSignedTransaction(payload);
  const ids = [transactionId, saleId].map((id) => id && withPlatform(platformTokens.appStore, id));
  const transactions = observation.transactions.map((transaction) => {
    const isSubject = ids.includes(transaction.transactionId) || (saleId ?? '') === transaction.saleId;
    if (!isSubject) return transaction;
    if (type.endsWith('.UPGRADE')) return { ...transaction, isRenewal: false };
    if (getBaseType(type) !== 'REFUND_REVERSED') return transaction;
    return { ...transaction, partialRefunds: reverseRefunds(transaction.partialRefunds, payload, occurredAt) };
  });
  return { ...observation, transactions };
}

/**
 * Returns the request of a notification without a transaction, which is about a rescinded consent or an external
 * purchase token. Undefined for other notifications.
 * @see https://developer.apple.com/documentation/appstoreservernotifications/appdata
 * @see https://developer.apple.com/documentation/appstoreservernotifications/externalpurchasetoken
 */
function toStoreRequest(notification: StoreNotification, verification: VerificationContext): StoreRequest | undefined {
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
