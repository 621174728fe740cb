import type { CreditTotalsByName } from '../api/credit-totals.ts';
import { ServiceError } from '../foundation/errors.ts';
import { withoutPlatform } from '../foundation/platform.ts';
import { type EpochMillis, toIso } from '../foundation/time.ts';
import { toValidatorPlatform, type Vocabulary } from '../foundation/vocabulary.ts';
import { isExpired, isUnpaid, type Purchase } from '../purchases/purchase.ts';
import type { ValidatorPurchase } from '../purchases/purchase-contract.ts';
import type { EntitledPurchase } from '../purchases/stored-purchase.ts';
import { toValidatorPurchase } from '../purchases/to-records.ts';
import type { ValidationRequest } from '../stores/store.ts';
import type { ValidationOutcome } from './validation-outcome.ts';

interface ResponseContext {
  readonly vocabulary: Vocabulary;
  readonly now: EpochMillis;
  /** The credits of the customer, if a validated product gives some. */
  readonly credits?: CreditTotalsByName;
}

/**
 * Builds the response. For a requested product, throws `InvalidPayload` if the receipt does not contain it, `Conflict`
 * if the user is not entitled to it, `NeedMoreData` while its payment is pending, `PurchaseConsumed` or
 * `PurchaseExpired` without access.
 */
export function toValidationResponse(
  request: ValidationRequest,
  { validation, purchases, requestedPurchase }: ValidationOutcome,
  { vocabulary, now, credits }: ResponseContext,
) {
  const { applicationUsername } = request;
  if (validation.scope === 'product') assertValid(requestedPurchase, applicationUsername, now);
  const own = purchases
    .filter((entitled) => isEntitled(applicationUsername, entitled) && !isUnpaid(entitled.purchase))
    .map(({ purchase }) => purchase);
  return {
    ok: true as const,
    data: {
      id: validation.id,
      latest_receipt: true as const,
      transaction: {
        ...validation.nativeTransaction,
        ...(requestedPurchase && { transactionId: withoutPlatform(requestedPurchase.purchase.transactionId) }),
        // Clients compare the type with the submitted one first.
        ...(request.transaction.type !== undefined && { type: request.transaction.type }),
      },
      collection: toCollection(own, { vocabulary, now }),
      ineligible_for_intro_price: [...validation.ineligibleForIntroPrice],
      ...(validation.warning && { warning: validation.warning }),
      ...(credits && { credits }),
      date: toIso(now),
    },
  };
}

/** A request without a user returns all purchases of the store account. */
const isEntitled = (username: string | undefined, { entitledUsers }: EntitledPurchase): boolean =>
  username === undefined || entitledUsers.includes(username);

function assertValid(requested: EntitledPurchase | undefined, username: string | undefined, now: EpochMillis): void {
  if (!requested) throw new ServiceError('InvalidPayload', 'The receipt is valid but does not contain the product.');
  if (!isEntitled(username, requested)) {
    throw new ServiceError('Conflict', 'The purchase belongs to another user.', { retryable: false });
  }
  const { purchase } = requested;
  if (purchase.isConsumed) throw new ServiceError('PurchaseConsumed', 'The purchase is already consumed.');
  if (purchase.isPending) throw pendingPaymentError();
  if (isExpired(purchase, now)) throw new ServiceError('PurchaseExpired', 'Transaction has expired or was cancelled.');
}

/**
 * Creates the error for a purchase whose payment is pending. Clients wait and validate again: they drop or finish a
 * purchase for `PurchaseExpired` only (docs/decisions/api.md).
 */
const pendingPaymentError = (): ServiceError =>
  new ServiceError('NeedMoreData', 'The payment is pending. Validate again when it is paid.');

/** Active purchases first, then by purchase date, latest first: some clients read only the first entry of a product. */
const toCollection = (
  purchases: readonly Purchase[],
  { vocabulary, now }: { vocabulary: Vocabulary; now: EpochMillis },
): ValidatorPurchase[] =>
  [...purchases]
    .sort(
      (a, b) => Number(isExpired(a, now)) - Number(isExpired(b, now)) || (b.purchaseDate ?? 0) - (a.purchaseDate ?? 0),
    )
    .map((purchase) => ({
      ...toValidatorPurchase(purchase, now),
      platform: toValidatorPlatform(purchase.platform, vocabulary),
    }));
