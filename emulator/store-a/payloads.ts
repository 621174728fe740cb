import { randomBytes, randomUUID } from 'node:crypto';
import { toUserUuid } from '../user-uuid.ts';
import { app, getStorefront, sandboxDownloadDate } from './app.ts';
import { getPaidUntil, requireSubscription } from './purchase-transition.ts';
import { type Account, getLatestTransaction, type Transaction } from './records.ts';
import { getProduct, type OwnedTransaction, type StoreState } from './store-state.ts';

const types = {
  'paid subscription': 'Auto-Renewable Subscription',
  'non renewing subscription': 'Non-Renewing Subscription',
  consumable: 'Consumable',
  'non consumable': 'Non-Consumable',
} as const;

const introductoryOffer = 1;
const offerCode = 3;

/** The payload of a signed transaction (JWSTransactionDecodedPayload). */
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
    ...(!isShared && getAppAccountToken(account)),
    inAppOwnershipType: isShared ? 'FAMILY_SHARED' : 'PURCHASED',
    signedDate: now,
    ...revocation(transaction),
    ...(isUpgraded && { isUpgraded }),
    ...offer(transaction.offer),
    environment: account.environment,
    transactionReason: transaction.reason,
    ...getStorefront(transaction.currency),
    price: milliunits(transaction.priceMicros * quantity),
    currency: transaction.currency,
    appTransactionId: account.appTransactionId,
  };
}

/** The payload of a subscription's signed renewal information (JWSRenewalInfoDecodedPayload). */
export function buildRenewalPayload({ account, purchase }: Omit<OwnedTransaction, 'transaction'>, now: number): object {
  const { state, willRenew, renewal, expirationIntent, graceUntil, priceIncrease, comingOffer, recentStart } =
    requireSubscription(purchase);
  return {
    ...(expirationIntent !== undefined && { expirationIntent }),
    originalTransactionId: purchase.id,
    autoRenewProductId: renewal.productId,
    productId: getLatestTransaction(purchase).productId,
    autoRenewStatus: willRenew ? 1 : 0,
    ...(getPaidUntil(purchase) <= now && { isInBillingRetryPeriod: state === 'BILLING_RETRY' }),
    ...(priceIncrease && { priceIncreaseStatus: priceIncrease.accepted ? 1 : 0 }),
    ...(graceUntil !== undefined && { gracePeriodExpiresDate: graceUntil }),
    ...(willRenew && offer(comingOffer)),
    signedDate: now,
    environment: account.environment,
    recentSubscriptionStartDate: recentStart,
    renewalDate: getPaidUntil(purchase),
    renewalPrice: milliunits(comingOffer?.priceMicros ?? priceIncrease?.priceMicros ?? renewal.priceMicros),
    currency: renewal.currency,
    appTransactionId: account.appTransactionId,
    ...(purchase.sharedFrom === undefined && getAppAccountToken(account)),
  };
}

/** The payload of the signed download of the application (JWSAppTransactionDecodedPayload). */
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

/** The token of the customer's user in the application, when there is one. */
export const getAppAccountToken = ({ applicationUsername }: Account): { appAccountToken?: string } =>
  applicationUsername === undefined ? {} : { appAccountToken: toUserUuid(applicationUsername) };

const milliunits = (micros: number): number => Math.round(micros / 1000);

function offer(offer: Transaction['offer']): object {
  if (offer === undefined) return {};
  const { code, discountType, period } = offer;
  return {
    offerType: code === undefined ? introductoryOffer : offerCode,
    ...(code !== undefined && { offerIdentifier: code }),
    offerDiscountType: discountType,
    offerPeriod: period,
  };
}

function revocation({ revocation }: Transaction): object {
  if (revocation === undefined) return {};
  return {
    revocationReason: revocation.reason,
    revocationDate: revocation.date,
    ...(revocation.type !== undefined && { revocationType: revocation.type }),
    ...(revocation.type === 'REFUND_FULL' && { revocationPercentage: 100_000 }),
  };
}
