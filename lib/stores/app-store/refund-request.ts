import { ServiceError } from '../../foundation/errors.ts';
import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import { hourMs } from '../../foundation/time.ts';
import type { RefundAnswer, StoreRefundOutcome, StoreRefundRequest } from '../refund-request.ts';
import type { StoreContext } from '../store-context.ts';
import { invalidSettingsError } from './api-errors.ts';
import { connectAppStore } from './app-store-server-api.ts';
import { getBaseType } from './notification-reason.ts';
import type { TransactionPayload } from './payloads.ts';
import { parseStoredSettings } from './settings.ts';

/**
 * Time for consumption information. Counted from the signature, which is before the delivery.
 * @see https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information
 */
const replyTimeMs = 12 * hourMs;

interface ConsumptionNotification {
  readonly transaction: TransactionPayload;
  readonly reason: string | undefined;
  readonly occurredAt: number;
}

/** Converts a `CONSUMPTION_REQUEST`. */
export function toRefundRequest({
  transaction,
  reason = 'OTHER',
  occurredAt,
}: ConsumptionNotification): StoreRefundRequest {
  const { transactionId, originalTransactionId, productId, environment, type } = transaction;
  const platform = platformTokens.appStore;
  return {
    platform,
    purchaseId: withPlatform(platform, originalTransactionId),
    transactionId: withPlatform(platform, transactionId),
    productId: withPlatform(platform, productId),
    sandbox: environment !== 'Production',
    reason,
    requestedAt: occurredAt,
    deadline: occurredAt + replyTimeMs,
    reference: { transactionId, environment, type: type ?? '' },
  };
}

const outcomesByType: Readonly<Record<string, StoreRefundOutcome['outcome']>> = {
  REFUND: 'refunded',
  REFUND_DECLINED: 'declined',
  REFUND_REVERSED: 'reversed',
};

/** Returns the decision that a notification reports. Undefined for other notifications. */
export function toRefundOutcome(type: string, { transactionId }: TransactionPayload): StoreRefundOutcome | undefined {
  const outcome = outcomesByType[getBaseType(type)];
  return outcome && { transactionId: withPlatform(platformTokens.appStore, transactionId), outcome };
}

/** Sends consumption information, version 2. Throws `InvalidPayload` if Apple rejects it. */
export async function answerRefundRequest(
  { reference }: StoreRefundRequest,
  answer: RefundAnswer,
  context: StoreContext,
): Promise<void> {
  const server = await connectAppStore(parseStoredSettings(context.settings), context);
  if (!server) throw invalidSettingsError('an API key is required for refund requests');
  const { transactionId = '', environment } = reference;
  const result = await server.send(
    environment === 'Sandbox' ? 'Sandbox' : 'Production',
    `/inApps/v2/transactions/consumption/${transactionId}`,
    { method: 'PUT', body: toConsumptionRequest(reference, answer) },
  );
  if (result.kind === 'accepted') return;
  if (result.kind === 'unauthorized') throw invalidSettingsError(result.reason);
  const code = result.errorCode === undefined ? '' : ` (error ${result.errorCode})`;
  throw new ServiceError('InvalidPayload', `The App Store rejected the consumption information${code}.`);
}

/**
 * Apple does not support a percentage for auto-renewable subscriptions, and no percentage above 0 without delivery.
 * @see https://developer.apple.com/documentation/appstoreserverapi/consumptionrequest
 */
function toConsumptionRequest(reference: Readonly<Record<string, string>>, answer: RefundAnswer): object {
  const { preference, isProrated, customerConsented, sampleContentProvided, consumptionPercentage } = answer;
  const { deliveryStatus = 'DELIVERED' } = answer;
  const isRenewable = reference.type === 'Auto-Renewable Subscription';
  const percentage = deliveryStatus === 'DELIVERED' ? consumptionPercentage : 0;
  const approval = isProrated ? 'GRANT_PRORATED' : 'GRANT_FULL';
  return {
    customerConsented,
    deliveryStatus,
    sampleContentProvided,
    ...(percentage !== undefined && !isRenewable && { consumptionPercentage: percentage }),
    ...(preference !== 'neutral' && { refundPreference: preference === 'approve' ? approval : 'DECLINE' }),
  };
}
