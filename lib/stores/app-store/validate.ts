import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { withoutPlatform } from '../../foundation/platform.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import { isActive, type Purchase } from '../../purchases/purchase.ts';
import type { StoreValidation, ValidationRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { type AppDownload, toNativeDownload } from './app-download.ts';
import { type Evidence, verifyEvidence } from './evidence.ts';
import { groupByPurchase } from './group-by-purchase.ts';
import { type LookupResult, lookUpEvidence } from './lookup.ts';
import { findRequestedPurchase, isEveryPurchaseCurrent, type MappedPurchase } from './requested-purchase.ts';
import { getApiKey, parseStoredSettings } from './settings.ts';
import { listIneligibleForIntroPrice, type StoreTransaction } from './store-transaction.ts';
import { type RequestDetails, toObservation } from './to-observation.ts';
import { createVerificationContext } from './verification.ts';

type Scope = StoreValidation['scope'];

/** Returns all purchases of the store account in the app, not only the requested product. */
export async function validate(request: ValidationRequest, context: StoreContext): Promise<StoreValidation> {
  const settings = parseStoredSettings(context.settings);
  const verification = createVerificationContext(settings, context);
  const { now } = verification;
  const evidence = verifyEvidence(request.transaction, verification);
  const scope: Scope = request.type === 'application' || request.id === settings.bundleId ? 'application' : 'product';
  const includeAppDownload = scope === 'application' && evidence.download === undefined;
  const lookup = await lookUpEvidence(evidence, { settings, context, verification, includeAppDownload });
  const requestDetails = toRequestDetails(request, evidence, scope);
  const canRefresh = getApiKey(settings) !== undefined;
  const observed = groupByPurchase(evidence, lookup.account, now).map((group) => {
    const observation = toObservation(group, { requestDetails, canRefresh });
    return { group, observation, current: observation.purchase };
  });
  const purchases = lookup.outage === undefined ? observed : await withStoredPurchases(observed, context);
  const listed = purchases.filter((purchase) => !isForeignConsumable(purchase, evidence));
  const requested = findRequestedPurchase(listed, { request, evidence, scope, now });
  const offlineContext = { scope, purchases, requested: scope === 'product' ? requested : undefined, now };
  if (lookup.outage !== undefined && !canValidateOffline(evidence, offlineContext)) throw lookup.outage;
  return {
    id: scope === 'product' ? request.id : settings.bundleId,
    scope,
    ...(lookup.outage !== undefined && { isOffline: true }),
    ...buildValidation({ evidence, lookup, purchases, requested, products: request.products }),
  };
}

/**
 * The history of the App Store Server API includes consumables that the app has finished, and does not distinguish
 * them: a client would credit them again.
 * @see https://developer.apple.com/documentation/appstoreserverapi/historyresponse
 */
const isForeignConsumable = ({ group }: MappedPurchase, { transactions }: Evidence): boolean =>
  group.latest.productType === 'consumable' &&
  !transactions.some(({ originalTransactionId }) => originalTransactionId === group.originalTransactionId);

/**
 * Selects the product to which the details apply. For scope `application`: the signed product or the one in
 * `transaction.id`.
 */
function toRequestDetails(
  request: ValidationRequest,
  { productId: signedProductId }: Evidence,
  scope: Scope,
): RequestDetails {
  const { type, id, transaction, priceMicros, currency } = request;
  if (type === 'application') return {};
  const transactionId = typeof transaction.id === 'string' ? transaction.id : undefined;
  const productId = scope === 'product' ? id : (signedProductId ?? transactionId);
  return omitUndefined({ productId, productType: type, priceMicros, currency });
}

interface OfflineContext {
  readonly scope: Scope;
  readonly purchases: readonly MappedPurchase[];
  readonly requested: MappedPurchase | undefined;
  readonly now: EpochMillis;
}

/**
 * Replaces purchases by their stored state, unless the evidence is newer: it can be an old transaction of a renewed
 * subscription.
 */
async function withStoredPurchases(
  purchases: readonly MappedPurchase[],
  { findPurchase }: StoreContext,
): Promise<MappedPurchase[]> {
  return await Promise.all(
    purchases.map(async (purchase) => {
      const stored = await findPurchase?.(purchase.current.purchaseId);
      return stored && !isNewerThan(purchase.group.latest, stored) ? { ...purchase, current: stored } : purchase;
    }),
  );
}

const isNewerThan = (
  { purchaseDate, transactionId }: StoreTransaction,
  { purchaseDate: firstDate = 0, lastRenewalDate = firstDate, ...stored }: Purchase,
): boolean => purchaseDate > lastRenewalDate && withoutPlatform(stored.transactionId) !== transactionId;

/**
 * The evidence contains the requested product, and evidence and stored purchases have the current state of all
 * purchases in the evidence, or the requested product is active. Evidence without the product proves nothing: the store
 * account can have bought it by another transaction, or since the evidence was signed.
 */
function canValidateOffline(
  { receiptData, transactions }: Evidence,
  { purchases, requested, scope, now }: OfflineContext,
): boolean {
  if (scope === 'product' && requested === undefined) return false;
  // A signed app download contains no purchases. A receipt without purchases proves that the customer owns nothing.
  if (receiptData === undefined && transactions.length === 0) return false;
  return isEveryPurchaseCurrent(purchases, now) || (requested !== undefined && isActive(requested.current, now));
}

interface ValidationParts {
  readonly evidence: Evidence;
  readonly lookup: LookupResult;
  readonly purchases: readonly MappedPurchase[];
  readonly requested: MappedPurchase | undefined;
  readonly products: ValidationRequest['products'];
}

function buildValidation(parts: ValidationParts): Omit<StoreValidation, 'id' | 'scope'> {
  const { evidence, lookup, purchases, requested, products } = parts;
  const download = { ...evidence.download, ...lookup.download };
  return {
    observations: purchases.map(({ observation }) => observation),
    unlistedPurchaseIds: purchases
      .filter((purchase) => isForeignConsumable(purchase, evidence))
      .map(({ observation }) => observation.purchase.purchaseId),
    nativeTransaction: toNativeTransaction(parts, download),
    ineligibleForIntroPrice: listIneligibleForIntroPrice(
      purchases.flatMap(({ group }) => group.transactions),
      products,
    ),
    ...omitUndefined({
      purchaseId: requested?.observation.purchase.purchaseId,
      warning: lookup.warning,
      isFallback: lookup.isFallback,
      appDownload: toAppDownload(download),
    }),
  };
}

/** Returns the complete receipt, or the latest signed transaction of the requested purchase. */
function toNativeTransaction({ evidence, lookup, requested }: ValidationParts, download: AppDownload) {
  const isReceipt = evidence.receiptData !== undefined;
  const native = isReceipt
    ? (lookup.receipt ?? evidence.nativeTransaction)
    : (requested?.group.latest.native ?? evidence.nativeTransaction);
  return {
    ...toNativeDownload(download),
    ...native,
    ...(requested && { transactionId: withoutPlatform(requested.observation.purchase.transactionId) }),
  };
}

function toAppDownload({ originalPurchaseDate: _date, ...versions }: AppDownload): StoreValidation['appDownload'] {
  return Object.keys(versions).length > 0 ? versions : undefined;
}
