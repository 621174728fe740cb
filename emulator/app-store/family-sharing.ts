import { floorToSecond } from '../calendar.ts';
import { requirePossible } from '../purchase-checks.ts';
import type { Transition, TransitionContext } from './purchase-transition.ts';
import { getInitialNotification } from './purchasing.ts';
import { type Account, getLatestTransaction, type Product, type Purchase } from './records.ts';
import type { StoreState } from './store-state.ts';

/**
 * Shares a purchase with a family member. The member gets separate transactions without a price that end with the
 * owner's.
 *
 * @see https://developer.apple.com/documentation/storekit/supporting-family-sharing-in-your-app
 */
export function sharePurchase(
  owner: Purchase,
  member: Account,
  { product, context }: { product: Product; context: TransitionContext },
): Transition {
  const isShareable = product.type === 'paid subscription' || product.type === 'non consumable';
  requirePossible(isShareable, owner, `is a ${product.type}, which cannot be shared`);
  const { state } = owner.subscription ?? {};
  const isOwned = state === undefined ? getLatestTransaction(owner).revocation === undefined : state === 'ACTIVE';
  requirePossible(isOwned, owner, 'is not active');
  requirePossible(member.id !== owner.accountId, owner, 'belongs to this customer');
  return { purchase: createShare(owner, member, context), notifications: [getInitialNotification(product)] };
}

/** Lists the shares that follow the owner's purchase: not revoked and in the same state. */
export const listLinkedShares = (state: StoreState, owner: Purchase): Purchase[] =>
  [...state.purchases.values()].filter(
    (purchase) =>
      purchase.sharedFrom === owner.id &&
      purchase.subscription?.state === owner.subscription?.state &&
      getLatestTransaction(purchase).revocation === undefined,
  );

function createShare(owner: Purchase, member: Account, context: TransitionContext): Purchase {
  const { webOrderLineItemId, expiresDate, productId, currency } = getLatestTransaction(owner);
  const transactionId = context.nextId();
  const purchaseDate = floorToSecond(context.at);
  return {
    id: transactionId,
    accountId: member.id,
    sharedFrom: owner.id,
    transactions: [
      {
        transactionId,
        ...(webOrderLineItemId !== undefined && { webOrderLineItemId: context.nextId() }),
        ...(expiresDate !== undefined && { expiresDate }),
        productId,
        currency,
        purchaseDate,
        priceMicros: 0,
        quantity: 1,
        reason: 'PURCHASE',
        changedAt: context.at,
      },
    ],
    ...(owner.subscription && {
      subscription: {
        ...owner.subscription,
        renewal: { ...owner.subscription.renewal, priceMicros: 0 },
        recentStart: purchaseDate,
      },
    }),
  };
}
