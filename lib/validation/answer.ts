import type { ValidatorPurchase } from '../api/validation.ts';
import { ServiceError } from '../errors.ts';
import { type Tongue, validatorPlatform } from '../http/vocabulary.ts';
import { bare } from '../purchases/platform.ts';
import { isExpired, type Millis, type Purchase } from '../purchases/purchase.ts';
import { validatorPurchase } from '../purchases/records.ts';
import type { ValidationRequest } from '../stores/store.ts';
import type { Registered } from './register.ts';
import type { Validated } from './validate.ts';

interface Answering {
  readonly tongue: Tongue;
  readonly now: Millis;
}

/**
 * The answer to a validation. Throws what the product's state calls for: `PurchaseExpired`, `PurchaseConsumed`, `Conflict`
 * when the strategy gives the purchase to another user, `InvalidPayload` when the receipt does not hold the product.
 */
export function validationAnswer(
  request: ValidationRequest,
  { validation, purchases, asked }: Validated,
  { tongue, now }: Answering,
) {
  const { applicationUsername } = request;
  if (validation.about === 'product') checkOwned(asked, applicationUsername, now);
  const own = purchases.filter((one) => isOpenTo(applicationUsername, one)).map(({ purchase }) => purchase);
  return {
    ok: true as const,
    data: {
      id: validation.id,
      latest_receipt: true as const,
      transaction: {
        ...validation.native,
        ...(asked && { transactionId: bare(asked.purchase.transactionId) }),
        // Clients compare it with the type they sent before they read anything else.
        ...(request.transaction.type !== undefined && { type: request.transaction.type }),
      },
      collection: collectionFor(own, { tongue, now }),
      ineligible_for_intro_price: [...validation.ineligibleForIntroPrice],
      ...(validation.warning && { warning: validation.warning }),
      date: new Date(now).toISOString(),
    },
  };
}

/** Without a user the answer is about the store account; with one it shows only what that user is entitled to. */
const isOpenTo = (username: string | undefined, { entitledUsers }: Registered): boolean =>
  username === undefined || entitledUsers.includes(username);

function checkOwned(asked: Registered | undefined, username: string | undefined, now: Millis): void {
  if (!asked) throw new ServiceError('InvalidPayload', 'The receipt is valid but does not hold this product.');
  if (!isOpenTo(username, asked)) throw new ServiceError('Conflict', 'This purchase belongs to another user.');
  const { purchase } = asked;
  if (purchase.isConsumed) throw new ServiceError('PurchaseConsumed', 'The purchase was consumed already.');
  if (isExpired(purchase, now)) throw new ServiceError('PurchaseExpired', 'Transaction has expired or was cancelled.');
}

/** Newest first: some clients take the first entry of a product. */
const collectionFor = (
  purchases: readonly Purchase[],
  { tongue, now }: { tongue: Tongue; now: Millis },
): ValidatorPurchase[] =>
  [...purchases]
    .sort(
      (a, b) => Number(isExpired(a, now)) - Number(isExpired(b, now)) || (b.purchaseDate ?? 0) - (a.purchaseDate ?? 0),
    )
    .map((purchase) => ({
      ...validatorPurchase(purchase, now),
      platform: validatorPlatform(purchase.platform, tongue),
    }));
