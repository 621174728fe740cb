import type { Observation } from '../../purchases/observation.ts';
import { ServiceError } from '../../shared/errors.ts';
import type { ObservedNotification, StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { createApiToken } from './api-token.ts';
import { createAppStoreServerApi } from './app-store-server-api.ts';
import type { TransactionGroup } from './group-by-purchase.ts';
import { toNotificationReason } from './notification-reason.ts';
import { verifySignedParts } from './parse-notification.ts';
import { refetchPurchase } from './refetch-purchase.ts';
import { withRequestBudget } from './request-budget.ts';
import { getApiKey, parseStoredSettings } from './settings.ts';
import { toObservation } from './to-observation.ts';
import { createVerificationContext, type VerificationContext } from './verification.ts';
import {
  isNotificationCurrent,
  toCurrentGroup,
  toPastGroup,
  type VerifiedNotification,
} from './verified-notification.ts';

/** Not a change but a question to the developer, which comes again and again while a refund is decided. */
const consumptionRequestType = 'CONSUMPTION_REQUEST';

/** What a notification tells: the present state by Apple's API where that can be asked, else by the signed parts alone. */
export async function observe(message: StoreNotification, context: StoreContext): Promise<ObservedNotification> {
  const reason = toNotificationReason(message.type);
  if (message.type === consumptionRequestType || message.payload.transaction === undefined)
    return { reason, observations: [] };
  const settings = parseStoredSettings(context.settings);
  const trust = createVerificationContext(settings, context);
  const parts = verifySignedParts(message, trust);
  if (!parts) return { reason, observations: [] };
  const notification = { ...parts, type: message.type, at: message.occurredAt };
  const line = await determineCurrentGroup(notification, context, trust);
  const observation = line ? toCurrentObservation(line, context) : toPastObservation(notification, context);
  return { reason, observations: [withRenewalIntentChange(observation, notification)] };
}

/** The purchase as it is; undefined when only a past period of it is known. */
async function determineCurrentGroup(
  notification: VerifiedNotification,
  context: StoreContext,
  trust: VerificationContext,
): Promise<TransactionGroup | undefined> {
  const signed = isNotificationCurrent(notification) ? toCurrentGroup(notification) : undefined;
  const read = await tryRefetch(notification, context, trust);
  // Apple's answers may be behind its notifications.
  return read && (!signed || read.asOf >= signed.asOf) ? read : signed;
}

/** Undefined without an API key and when Apple gives no answer: what it signed is enough to know. */
async function tryRefetch(
  notification: VerifiedNotification,
  context: StoreContext,
  trust: VerificationContext,
): Promise<TransactionGroup | undefined> {
  const settings = parseStoredSettings(context.settings);
  const key = getApiKey(settings);
  if (!key) return undefined;
  try {
    const server = createAppStoreServerApi(
      withRequestBudget(context.fetch),
      createApiToken(key, settings.bundleId, trust.now),
    );
    return await refetchPurchase(notification, { server, environment: notification.environment, trust });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return undefined;
  }
}

/** A transaction that says nothing of the present period: it is added, and the state that is known remains. */
const toPastObservation = (notification: VerifiedNotification, context: StoreContext): Observation => ({
  ...toCurrentObservation(toPastGroup(notification), context),
  transactionsAsOf: notification.at,
});

/** Without the length of a non-renewing subscription a refresh token would only take the place of a better one. */
function toCurrentObservation(line: TransactionGroup, context: StoreContext): Observation {
  const canRefresh = getApiKey(parseStoredSettings(context.settings)) !== undefined;
  return toObservation(line, {}, canRefresh && line.latest.productType !== 'non renewing subscription');
}

/**
 * Only the notification tells when the customer changed their mind; of several the latest counts, so it does not matter
 * which of them the present state shows.
 */
function withRenewalIntentChange(observation: Observation, { type, at }: VerifiedNotification): Observation {
  const { purchase } = observation;
  if (purchase.renewalIntent === undefined || !type.startsWith('DID_CHANGE_RENEWAL_STATUS')) return observation;
  return { ...observation, purchase: { ...purchase, renewalIntentChangeDate: at } };
}
