import { randomBytes, randomUUID } from 'node:crypto';
import { getProduct } from '../product.ts';
import { requireSubscription } from '../purchase-checks.ts';
import { toUserUuid } from '../user-uuid.ts';
import { app, getStorefront, sandboxDownloadDate } from './app.ts';
import { commitmentPeriods } from './commitment.ts';
import { getPaidUntil } from './purchase-transition.ts';
import {
  type Account,
  type Commitment,
  getLatestTransaction,
  type Item,
  type Purchase,
  type SeatTier,
  type Subscription,
  type Transaction,
} from './records.ts';
import { countSeats } from './seats.ts';
import type { OwnedTransaction, StoreState } from './store-state.ts';

const types = {
  'paid subscription': 'Auto-Renewable Subscription',
  'non renewing subscription': 'Non-Renewing Subscription',
  consumable: 'Consumable',
  'non consumable': 'Non-Consumable',
} as const;

const introductoryOffer = 1;
const promotionalOffer = 2;
const offerCode = 3;

/**
 * Builds the payload of a signed transaction.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload
 */
export function buildTransactionPayload(
  state: StoreState,
  { account, purchase, transaction }: OwnedTransaction,
  now: number,
): object {
  const { type, group } = getProduct(state, transaction.productId);
  const { webOrderLineItemId, expiresDate, quantity, isUpgraded } = transaction;
  const isShared = purchase.sharedFrom !== undefined;
  return {
    transactionId: transaction.transactionId,
    originalTransactionId: purchase.id,
    ...(webOrderLineItemId !== undefined && { webOrderLineItemId }),
    bundleId: app.bundleId,
    productId: transaction.productId,
    ...(group !== undefined && { subscriptionGroupIdentifier: group }),
    purchaseDate: transaction.purchaseDate,
    originalPurchaseDate: purchase.transactions[0].purchaseDate,
    ...(expiresDate !== undefined && { expiresDate }),
    quantity,
    type: types[type],
    ...(!isShared && getTransactionToken(account, purchase, transaction.purchaseDate)),
    inAppOwnershipType: getOwnershipType(purchase),
    signedDate: now,
    ...toRevocation(transaction),
    ...(isUpgraded && { isUpgraded }),
    ...toOffer(transaction.offer),
    environment: account.environment,
    transactionReason: transaction.reason,
    ...getStorefront(transaction.currency),
    price: toMilliunits(transaction.seats ? transaction.priceMicros : transaction.priceMicros * quantity),
    ...toMultiSeatInfo(transaction, isShared),
    ...(transaction.items && { advancedCommerceInfo: { items: transaction.items.map(toItem) } }),
    ...(transaction.sharesPeriod && { additionalTransactionReason: 'SEAT_ADDITION' }),
    ...(transaction.commitment && toCommitment(transaction.commitment, transaction.priceMicros)),
    currency: transaction.currency,
    appTransactionId: account.appTransactionId,
  };
}

/** Returns how the customer of a purchase got it. */
export const getOwnershipType = ({ sharedFrom, isAssigned }: Purchase): string =>
  sharedFrom === undefined ? 'PURCHASED' : isAssigned ? 'ASSIGNED' : 'FAMILY_SHARED';

/** @see https://developer.apple.com/documentation/appstoreserverapi/transactionmultiseatinfo */
function toMultiSeatInfo({ seats }: Transaction, isShared: boolean): object {
  if (seats === undefined) return {};
  const { tiers, revoked } = seats;
  return {
    multiSeatInfo: {
      invitationManagement: 'APPLE',
      // Apple does not guarantee an order.
      priceTiers: tiers.map(toPriceTier).reverse(),
      ...(revoked !== undefined && !isShared && { revokedSeatQuantity: revoked }),
    },
  };
}

/** @see https://developer.apple.com/documentation/appstoreserverapi/advancedcommercetransactionitem */
const toItem = ({ sku, priceMicros, refunds, revokedAt }: Item): object => ({
  SKU: sku,
  displayName: sku,
  description: sku,
  price: toMilliunits(priceMicros),
  ...(refunds && {
    refunds: refunds.map(({ at, amountMicros }) => ({
      refundAmount: toMilliunits(amountMicros),
      refundDate: at,
      refundReason: 'OTHER',
      refundType: amountMicros === priceMicros ? 'FULL' : 'CUSTOM',
    })),
  }),
  ...(revokedAt !== undefined && { revocationDate: revokedAt }),
});

const toPriceTier = ({ priceMicros, quantity }: SeatTier): object => ({ price: toMilliunits(priceMicros), quantity });

/** @see https://developer.apple.com/documentation/appstoreserverapi/transactioncommitmentinfo */
const toCommitment = ({ billingPeriod, expiresDate }: Commitment, priceMicros: number): object => ({
  billingPlanType: 'MONTHLY',
  commitmentInfo: {
    billingPeriodNumber: billingPeriod,
    totalBillingPeriods: commitmentPeriods,
    commitmentExpiresDate: expiresDate,
    commitmentPrice: toMilliunits(priceMicros * commitmentPeriods),
  },
});

/** @see https://developer.apple.com/documentation/appstoreserverapi/renewalcommitmentinfo */
const toRenewalCommitment = ({ renews, expiresDate }: Commitment, renewal: Subscription['renewal']): object => ({
  renewalBillingPlanType: 'MONTHLY',
  commitmentInfo: {
    commitmentAutoRenewProductId: renewal.productId,
    commitmentAutoRenewStatus: renews ? 1 : 0,
    commitmentRenewalBillingPlanType: 'MONTHLY',
    commitmentRenewalDate: expiresDate,
    commitmentRenewalPrice: toMilliunits(renewal.priceMicros * commitmentPeriods),
  },
});

/** @see https://developer.apple.com/documentation/appstoreservernotifications/renewalquantity */
const toRenewalSeats = (tiers: readonly SeatTier[]): object => ({
  renewalQuantity: countSeats(tiers),
  multiSeatInfo: { renewalPriceTiers: tiers.map(toPriceTier) },
});

/**
 * Builds the payload of a subscription's signed renewal information.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload
 */
export function buildRenewalPayload({ account, purchase }: Omit<OwnedTransaction, 'transaction'>, now: number): object {
  const subscription = requireSubscription(purchase);
  const { state, willRenew, renewal, expirationIntent, graceUntil, priceIncrease, nextOffer, recentStart } =
    subscription;
  return {
    ...(expirationIntent !== undefined && { expirationIntent }),
    originalTransactionId: purchase.id,
    autoRenewProductId: renewal.productId,
    productId: getLatestTransaction(purchase).productId,
    autoRenewStatus: willRenew ? 1 : 0,
    ...(getPaidUntil(purchase) <= now && { isInBillingRetryPeriod: state === 'BILLING_RETRY' }),
    ...(priceIncrease && { priceIncreaseStatus: priceIncrease.accepted ? 1 : 0 }),
    ...(graceUntil !== undefined && { gracePeriodExpiresDate: graceUntil }),
    ...(willRenew && toOffer(nextOffer)),
    signedDate: now,
    environment: account.environment,
    recentSubscriptionStartDate: recentStart,
    renewalDate: getPaidUntil(purchase),
    renewalPrice: toMilliunits(nextOffer?.priceMicros ?? priceIncrease?.priceMicros ?? renewal.priceMicros),
    currency: renewal.currency,
    ...(subscription.seatTiers && toRenewalSeats(subscription.seatTiers)),
    ...(subscription.commitment && toRenewalCommitment(subscription.commitment, renewal)),
    appTransactionId: account.appTransactionId,
    ...(purchase.sharedFrom === undefined &&
      getTransactionToken(account, purchase, getLatestTransaction(purchase).purchaseDate)),
  };
}

/**
 * Builds the payload of the signed app transaction.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/jwsapptransactiondecodedpayload
 */
export function buildAppTransactionPayload(
  { environment, downloadedAt, appTransactionId }: Account,
  now: number,
): object {
  const isProduction = environment === 'Production';
  return {
    receiptType: environment,
    ...(isProduction && { appAppleId: app.appAppleId }),
    bundleId: app.bundleId,
    applicationVersion: app.version,
    ...(isProduction && { versionExternalIdentifier: app.versionExternalIdentifier }),
    receiptCreationDate: now,
    originalPurchaseDate: isProduction ? downloadedAt : sandboxDownloadDate,
    originalApplicationVersion: app.originalVersion[environment],
    deviceVerification: randomBytes(48).toString('base64'),
    deviceVerificationNonce: randomUUID(),
    appTransactionId,
    originalPlatform: 'iOS',
  };
}

/**
 * Returns the app account token of a transaction. A token that the developer has set replaces the customer's.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/set-app-account-token
 */
const getTransactionToken = (
  account: Account,
  { developerToken }: Purchase,
  purchaseDate: number,
): { appAccountToken?: string } =>
  developerToken && purchaseDate >= developerToken.from
    ? { appAccountToken: developerToken.token }
    : getAppAccountToken(account);

/** Returns the app account token of the customer; empty without a username. */
export const getAppAccountToken = ({ applicationUsername }: Account): { appAccountToken?: string } =>
  applicationUsername === undefined ? {} : { appAccountToken: toUserUuid(applicationUsername) };

const toMilliunits = (micros: number): number => Math.round(micros / 1000);

function toOffer(offer: Transaction['offer']): object {
  if (offer === undefined) return {};
  const { code, discountType, period, isPromotional } = offer;
  return {
    offerType: code === undefined ? introductoryOffer : isPromotional ? promotionalOffer : offerCode,
    ...(code !== undefined && { offerIdentifier: code }),
    offerDiscountType: discountType,
    offerPeriod: period,
  };
}

function toRevocation({ revocation }: Transaction): object {
  if (revocation === undefined) return {};
  return {
    revocationReason: revocation.reason,
    revocationDate: revocation.date,
    ...(revocation.type !== undefined && { revocationType: revocation.type }),
    ...(revocation.percentage !== undefined && { revocationPercentage: revocation.percentage }),
  };
}
