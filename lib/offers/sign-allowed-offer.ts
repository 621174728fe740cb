import { type Catalogue, findCatalogueProduct } from '../apps/catalogue.ts';
import { type BucketSize, type BucketSource, takeTokens } from '../apps/token-bucket-table.ts';
import { ServiceError } from '../foundation/errors.ts';
import type { OfferKind } from '../foundation/offer-kinds.ts';
import { platformTokens, withPlatform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { type EpochMillis, minuteMs, secondMs } from '../foundation/time.ts';
import { listRepresentativePurchases } from '../purchases/owned-purchase-table.ts';
import { isActive, type Purchase } from '../purchases/purchase.ts';
import { findPurchase } from '../purchases/purchase-table.ts';
import { listTransactionsById } from '../purchases/transaction-table.ts';
import type { OfferRule } from '../stores/app-store/offer-rule.ts';
import { parseStoredSettings } from '../stores/app-store/settings.ts';
import { type OfferSignature, signOffer } from '../stores/app-store/sign-offer.ts';

/** A signature is a discount: 20 for a customer or a receipt, and one more every three minutes. */
const offerBucket: BucketSize = { capacity: 20, msPerToken: 3 * minuteMs };

interface OfferRequest {
  readonly kind: OfferKind;
  readonly productId: string;
  readonly offerId?: string | undefined;
  readonly transactionId?: string | undefined;
}

interface OfferContext {
  readonly appName: string;
  readonly username: string;
  /** The purchase by which the customer was verified. */
  readonly receipt?: string | undefined;
  readonly settings: unknown;
  readonly catalogue: Catalogue;
}

/**
 * Signs an offer that the settings allow for the customer. Throws `InvalidPayload` for an offer that they do not list,
 * `Forbidden` if the customer does not meet its condition or for a transaction of a different customer, and
 * `ConnectionFailed` (429) above the limit of the customer or of a receipt.
 */
export async function signAllowedOffer(
  service: Service,
  { transactionId, ...requested }: OfferRequest,
  { appName, username, receipt, settings: stored, catalogue }: OfferContext,
): Promise<OfferSignature> {
  const settings = parseStoredSettings(stored);
  const rule = requireRule(settings.offers, requested);
  if (rule.kind === 'introductory' && transactionId === undefined)
    throw new ServiceError('InvalidPayload', 'transactionId is missing: Apple requires it for an introductory offer.');
  const ownPurchases = await findOwnPurchases(service, transactionId, { appName, username });
  const owned = await listRepresentativePurchases(service, appName, username);
  if (!meetsCondition(rule, owned, { catalogue, now: service.now() }))
    throw new ServiceError('Forbidden', `The offer is for customers who meet its condition: ${rule.who}.`);
  const receipts = new Set(receipt === undefined ? ownPurchases : [receipt, ...ownPurchases]);
  await takeAllowance(service, { kind: 'offer', value: `${appName}#${username}` });
  for (const purchaseId of receipts)
    await takeAllowance(service, { kind: 'offer-receipt', value: `${appName}#${purchaseId}` });
  return await signOffer(rule, { settings, username, transactionId, now: service.now() });
}

function requireRule(
  rules: readonly OfferRule[] = [],
  { kind, productId, offerId }: Omit<OfferRequest, 'transactionId'>,
): OfferRule {
  const rule = rules.find(
    (candidate) =>
      candidate.kind === kind &&
      candidate.productId === productId &&
      ('offerId' in candidate ? candidate.offerId : undefined) === offerId,
  );
  if (!rule) throw new ServiceError('InvalidPayload', 'The offer is not in the store_a settings of the app.');
  return rule;
}

/**
 * Returns the purchases of the transaction. Throws `Forbidden` for one of a different customer. A transaction that is
 * not stored is accepted: Apple binds the signature to the customer of the transaction.
 */
async function findOwnPurchases(
  service: Service,
  transactionId: string | undefined,
  { appName, username }: Pick<OfferContext, 'appName' | 'username'>,
): Promise<string[]> {
  if (transactionId === undefined) return [];
  const stored = await listTransactionsById(service, appName, withPlatform(platformTokens.appStore, transactionId));
  const purchaseIds = stored.map(({ purchaseId }) => purchaseId);
  for (const purchaseId of purchaseIds) {
    const purchase = await findPurchase(service, appName, purchaseId);
    if (purchase && !purchase.entitledUsers.includes(username))
      throw new ServiceError('Forbidden', 'transactionId is of a different customer.');
  }
  return purchaseIds;
}

function meetsCondition(
  { who, productId }: OfferRule,
  owned: readonly Purchase[],
  { catalogue, now }: { readonly catalogue: Catalogue; readonly now: EpochMillis },
): boolean {
  const platform = platformTokens.appStore;
  const offered = withPlatform(platform, productId);
  const { group } = findCatalogueProduct(catalogue, offered) ?? {};
  const related = owned.filter(
    (purchase) =>
      purchase.platform === platform &&
      (purchase.productId === offered ||
        (group !== undefined && findCatalogueProduct(catalogue, purchase.productId)?.group === group)),
  );
  switch (who) {
    case 'had-it-before':
      return related.length > 0;
    case 'never-had-it':
      return related.length === 0;
    case 'lapsed':
      return related.length > 0 && !related.some((purchase) => isActive(purchase, now));
    default:
      return true;
  }
}

async function takeAllowance(service: Service, source: BucketSource): Promise<void> {
  const until = await takeTokens(service, source, { count: 1, now: service.now(), size: offerBucket });
  if (until === undefined) return;
  throw new ServiceError('ConnectionFailed', 'Too many signatures for the customer or the receipt. Try again later.', {
    status: 429,
    retryable: false,
    retryAfterSeconds: Math.max(1, Math.ceil((until - service.now()) / secondMs)),
  });
}
