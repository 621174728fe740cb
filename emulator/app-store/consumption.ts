import * as v from 'valibot';
import { getProduct } from '../product.ts';
import { apiError } from './api-error.ts';
import type { OwnedTransaction, StoreState } from './store-state.ts';

/** 100 % in the unit of `consumptionPercentage`. */
const fullPercentage = 100_000;
/** General bad request. The documents name the errors about percentages, but lack their numbers. */
const badRequest = 4000000;

const deliveryStatuses = [
  'DELIVERED',
  'UNDELIVERED_QUALITY_ISSUE',
  'UNDELIVERED_WRONG_ITEM',
  'UNDELIVERED_SERVER_OUTAGE',
  'UNDELIVERED_OTHER',
] as const;
const refundPreferences = ['DECLINE', 'GRANT_FULL', 'GRANT_PRORATED'] as const;

/** Consumption information of version 2. */
export interface ConsumptionRequest {
  readonly refundPreference?: (typeof refundPreferences)[number] | undefined;
}

type Body = Readonly<Record<string, unknown>>;

const has = <T extends string>(values: readonly T[], value: unknown): value is T => values.some((one) => one === value);

/**
 * Checks the body of `PUT /inApps/v2/transactions/consumption/{transactionId}`.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/consumptionrequest
 */
export function parseConsumption(state: StoreState, owned: OwnedTransaction, body: Body): ConsumptionRequest {
  requireOwned(owned);
  const { customerConsented, deliveryStatus, sampleContentProvided, refundPreference, consumptionPercentage } = body;
  if (customerConsented !== true) throw apiError(4000035, 'Invalid request. The customer consented field is invalid.');
  if (!has(deliveryStatuses, deliveryStatus))
    throw apiError(4000036, 'Invalid request. The delivery status field is invalid.');
  if (typeof sampleContentProvided !== 'boolean')
    throw apiError(4000041, 'Invalid request. The sample content provided field is invalid.');
  if (refundPreference !== undefined && !has(refundPreferences, refundPreference))
    throw apiError(4000044, 'Invalid request. The refund preference field is invalid.');
  checkPercentage(consumptionPercentage, {
    isDelivered: deliveryStatus === 'DELIVERED',
    isProrated: refundPreference === 'GRANT_PRORATED',
    isRenewable: isAutoRenewable(state, owned),
  });
  return { refundPreference };
}

interface PercentageContext {
  readonly isDelivered: boolean;
  readonly isProrated: boolean;
  readonly isRenewable: boolean;
}

/** @see https://developer.apple.com/documentation/appstoreserverapi/consumptionpercentage */
function checkPercentage(percentage: unknown, { isDelivered, isProrated, isRenewable }: PercentageContext): void {
  if (percentage === undefined) return;
  if (isRenewable)
    throw apiError(badRequest, 'The consumption percentage is unsupported for auto-renewable subscriptions.');
  const isInRange = v.is(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(fullPercentage)), percentage);
  if (!isInRange) throw apiError(badRequest, 'The consumption percentage is outside the valid range.');
  if (!isDelivered && percentage !== 0)
    throw apiError(badRequest, 'The consumption percentage must be zero for the provided delivery status.');
  if (isProrated && percentage === 0)
    throw apiError(badRequest, 'A prorated refund needs a consumption percentage above zero.');
}

const isAutoRenewable = (state: StoreState, { transaction }: OwnedTransaction): boolean =>
  getProduct(state, transaction.productId).type === 'paid subscription';

function requireOwned({ purchase }: OwnedTransaction): void {
  if (purchase.sharedFrom !== undefined)
    throw apiError(4000185, 'Invalid request. Family Sharing transactions are not supported by this endpoint.');
}

/** Fields of version 1 with the maximum of each and the code of its error. */
const versionOneFields = {
  accountTenure: [7, 4000032],
  consumptionStatus: [3, 4000034],
  deliveryStatus: [5, 4000036],
  lifetimeDollarsPurchased: [7, 4000037],
  lifetimeDollarsRefunded: [7, 4000038],
  platform: [2, 4000039],
  playTime: [7, 4000040],
  userStatus: [4, 4000042],
  refundPreference: [3, 4000044],
} as const;
const versionOnePreferences: Readonly<Record<number, ConsumptionRequest['refundPreference']>> = {
  1: 'GRANT_FULL',
  2: 'DECLINE',
};

/**
 * Checks the body of `PUT /inApps/v1/transactions/consumption/{transactionId}`, which supports consumables and
 * auto-renewable subscriptions.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/consumptionrequestv1
 */
export function parseVersionOne(state: StoreState, owned: OwnedTransaction, body: Body): ConsumptionRequest {
  requireOwned(owned);
  const { type } = getProduct(state, owned.transaction.productId);
  if (type !== 'consumable' && type !== 'paid subscription')
    throw apiError(4000047, 'Invalid request. The transaction type is not supported.');
  const { customerConsented, sampleContentProvided, appAccountToken, refundPreference } = body;
  if (customerConsented !== true) throw apiError(4000035, 'Invalid request. The customer consented field is invalid.');
  if (typeof sampleContentProvided !== 'boolean')
    throw apiError(4000041, 'Invalid request. The sample content provided field is invalid.');
  if (typeof appAccountToken !== 'string')
    throw apiError(4000033, 'Invalid request. The app account token field is invalid.');
  for (const [field, [max, errorCode]] of Object.entries(versionOneFields)) {
    const isOptional = field === 'refundPreference' && body[field] === undefined;
    const isValid = v.is(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(max)), body[field]);
    if (!isOptional && !isValid) throw apiError(errorCode, `Invalid request. The ${field} field is invalid.`);
  }
  return { refundPreference: versionOnePreferences[Number(refundPreference)] };
}
