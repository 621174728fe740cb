import { isActive } from '../../purchases/purchase.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { withoutPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { parseBillingPeriod } from '../billing-period.ts';
import type { StoreValidation, ValidationRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { type AppDownload, toNativeDownload } from './app-download.ts';
import { type Evidence, verifyEvidence } from './evidence.ts';
import { isEvidenceCurrent } from './evidence-freshness.ts';
import { groupByPurchase } from './group-by-purchase.ts';
import { listIneligibleForIntroPrice } from './intro-price.ts';
import { type LookupResult, lookUpEvidence } from './lookup.ts';
import { findRequestedPurchase, type MappedPurchase } from './requested-purchase.ts';
import { getApiKey, parseStoredSettings } from './settings.ts';
import { type RequestHints, toObservation } from './to-observation.ts';
import { createVerificationContext } from './verification.ts';

type About = StoreValidation['scope'];

/** Validates what a client of store_a sends, and shows everything that the store account owns in the application. */
export async function validate(request: ValidationRequest, context: StoreContext): Promise<StoreValidation> {
  const settings = parseStoredSettings(context.settings);
  const trust = createVerificationContext(settings, context);
  const evidence = verifyEvidence(request.transaction, trust);
  const scope = request.type === 'application' || request.id === settings.bundleId ? 'application' : 'product';
  const includeAppDownload = scope === 'application' && evidence.download === undefined;
  const lookup = await lookUpEvidence(evidence, { settings, asking: context, trust, includeAppDownload });
  const hints = toHints(request, evidence, scope);
  const shown = groupByPurchase(evidence, lookup.account, trust.now).map((group) => ({
    group,
    observation: toObservation(group, hints, getApiKey(settings) !== undefined),
  }));
  const requested = findRequestedPurchase(shown, { request, evidence, about: scope, now: trust.now });
  const asked = scope === 'product' ? requested : undefined;
  if (lookup.outage !== undefined && !canValidateOffline(evidence, { shown, asked, now: trust.now }))
    throw lookup.outage;
  return {
    id: scope === 'product' ? request.id : settings.bundleId,
    scope,
    ...buildValidation({ evidence, look: lookup, shown, meant: requested }),
  };
}

/** What the request says of its product counts for that product alone. */
function toHints(request: ValidationRequest, { productId: signed }: Evidence, about: About): RequestHints {
  const { type, id, transaction, priceMicros, currency } = request;
  if (type === 'application') return {};
  const named = typeof transaction.id === 'string' ? transaction.id : undefined;
  const productId = about === 'product' ? id : (signed ?? named);
  return omitUndefined({ productId, productType: type, priceMicros, currency, period: parseBillingPeriod(request) });
}

interface OfflineContext {
  readonly shown: readonly MappedPurchase[];
  readonly asked: MappedPurchase | undefined;
  readonly now: EpochMillis;
}

/** Without Apple there is an answer when nothing is open, or when the product that is asked for is owned at all events. */
function canValidateOffline({ receiptData, transactions }: Evidence, { shown, asked, now }: OfflineContext): boolean {
  // A signed download tells of no purchase; a receipt that lists none says that there are none.
  if (receiptData === undefined && transactions.length === 0) return false;
  const lines = shown.map(({ group }) => group);
  return isEvidenceCurrent(lines, now) || (asked !== undefined && isActive(asked.observation.purchase, now));
}

interface ValidationParts {
  readonly evidence: Evidence;
  readonly look: LookupResult;
  readonly shown: readonly MappedPurchase[];
  readonly meant: MappedPurchase | undefined;
}

function buildValidation({
  evidence,
  look: lookup,
  shown,
  meant: requested,
}: ValidationParts): Omit<StoreValidation, 'id' | 'scope'> {
  const download = { ...evidence.download, ...lookup.download };
  return {
    observations: shown.map(({ observation }) => observation),
    nativeTransaction: toNativeTransaction({ evidence, look: lookup, meant: requested, download }),
    ineligibleForIntroPrice: listIneligibleForIntroPrice(shown.flatMap(({ group }) => group.transactions)),
    ...omitUndefined({
      purchaseId: requested?.observation.purchase.purchaseId,
      warning: lookup.warning,
      appDownload: toAppDownload(download),
    }),
  };
}

/** A receipt is shown whole, as clients know it; a signed transaction by the latest one of its purchase. */
function toNativeTransaction({
  evidence,
  look: lookup,
  meant: requested,
  download,
}: Omit<ValidationParts, 'shown'> & { readonly download: AppDownload }) {
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
