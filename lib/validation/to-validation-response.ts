import type { ValidatorPurchase } from '../api/validation.ts';
import { isExpired, type Purchase } from '../purchases/purchase.ts';
import type { EntitledPurchase } from '../purchases/purchase-repository.ts';
import { toValidatorPurchase } from '../purchases/to-records.ts';
import { ServiceError } from '../shared/errors.ts';
import { withoutPlatform } from '../shared/platform.ts';
import type { EpochMillis } from '../shared/time.ts';
import { toValidatorPlatform, type Vocabulary } from '../shared/vocabulary.ts';
import type { ValidationRequest } from '../stores/store.ts';
import type { ValidationOutcome } from './process-validation.ts';

interface ResponseContext {
  readonly vocabulary: Vocabulary;
  readonly now: EpochMillis;
}

/**
 * The answer to a validation. Throws what the product's state calls for: `PurchaseExpired`, `PurchaseConsumed`, `Conflict`
 * when the strategy gives the purchase to another user, `InvalidPayload` when the receipt does not hold the product.
 */
export function toValidationResponse(
  request: ValidationRequest,
  { validation, purchases, requestedPurchase }: ValidationOutcome,
  { vocabulary, now }: ResponseContext,
) {
  const { applicationUsername } = request;
  if (validation.scope === 'product') assertValid(requestedPurchase, applicationUsername, now);
  const own = purchases.filter((purchase) => isEntitled(applicationUsername, purchase)).map(({ purchase }) => purchase);
  return {
    ok: true as const,
    data: {
      id: validation.id,
      latest_receipt: true as const,
      transaction: {
        ...validation.nativeTransaction,
        ...(requestedPurchase && { transactionId: withoutPlatform(requestedPurchase.purchase.transactionId) }),
        // Clients compare it with the type they sent before they read anything else.
        ...(request.transaction.type !== undefined && { type: request.transaction.type }),
      },
      collection: toCollection(own, { vocabulary, now }),
      ineligible_for_intro_price: [...validation.ineligibleForIntroPrice],
      ...(validation.warning && { warning: validation.warning }),
      date: new Date(now).toISOString(),
    },
  };
}

/** Without a user the answer is about the store account; with one it shows only what that user is entitled to. */
const isEntitled = (username: string | undefined, { entitledUsers }: EntitledPurchase): boolean =>
  username === undefined || entitledUsers.includes(username);

function assertValid(asked: EntitledPurchase | undefined, username: string | undefined, now: EpochMillis): void {
  if (!asked) throw new ServiceError('InvalidPayload', 'The receipt is valid but does not hold this product.');
  if (!isEntitled(username, asked)) throw new ServiceError('Conflict', 'This purchase belongs to another user.');
  const { purchase } = asked;
  if (purchase.isConsumed) throw new ServiceError('PurchaseConsumed', 'The purchase was consumed already.');
  if (isExpired(purchase, now)) throw new ServiceError('PurchaseExpired', 'Transaction has expired or was cancelled.');
}

/** Newest first: some clients take the first entry of a product. */
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
