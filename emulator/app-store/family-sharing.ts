import { floorToSecond } from '../calendar.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import { type Transition, type TransitionContext, withLatestTransaction } from './purchase-transition.ts';
import { getInitialNotification } from './purchasing.ts';
import { type Account, getLatestTransaction, type Product, type Purchase } from './records.ts';
import { countCurrentSeats } from './seats.ts';
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
  requirePossible(owner.subscription?.seatTiers === undefined, owner, 'is a multiseat purchase: assign its seats');
  const isShareable = product.type === 'paid subscription' || product.type === 'non consumable';
  requirePossible(isShareable, owner, `is a ${product.type}, which cannot be shared`);
  const { state } = owner.subscription ?? {};
  const isOwned = state === undefined ? getLatestTransaction(owner).revocation === undefined : state === 'ACTIVE';
  requirePossible(isOwned, owner, 'is not active');
  requirePossible(member.id !== owner.accountId, owner, 'belongs to this customer');
  return { purchase: createShare(owner, member, context), notifications: [getInitialNotification(product)] };
}

/**
 * Assigns a seat of a multiseat purchase whose invitations Apple hosts. The transaction of the member has the seats and
 * price tiers of the purchaser.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/invitationmanagement
 */
export function assignSeat(
  owner: Purchase,
  member: Account,
  { product, context, assignedCount }: { product: Product; context: TransitionContext; assignedCount: number },
): Transition {
  const { state, seatTiers } = requireSubscription(owner);
  requirePossible(seatTiers !== undefined, owner, 'is not a multiseat purchase');
  requirePossible(state === 'ACTIVE', owner, 'is not active');
  requirePossible(assignedCount < countCurrentSeats(owner), owner, 'does not have a free seat');
  requirePossible(member.id !== owner.accountId, owner, 'belongs to this customer');
  const share = createShare(owner, member, context);
  const { seats, quantity, priceMicros } = getLatestTransaction(owner);
  const assigned = withLatestTransaction(share, { ...(seats && { seats }), quantity, priceMicros });
  return { purchase: { ...assigned, isAssigned: true }, notifications: [getInitialNotification(product)] };
}

/** Lists the shares that follow the owner's purchase: not revoked and in the same state. */
export const listLinkedShares = (state: StoreState, owner: Purchase): Purchase[] =>
  [...state.purchases.values()].filter(
    (purchase) =>
      purchase.sharedFrom === owner.id &&
      purchase.subscription?.state === owner.subscription?.state &&
      getLatestTransaction(purchase).revocation === undefined,
  );

/** Lists the shares that the refund of the owner's latest transaction revoked. */
export function listRefundedShares(state: StoreState, owner: Purchase): Purchase[] {
  const { transactionId } = getLatestTransaction(owner);
  return [...state.purchases.values()].filter(
    (purchase) => getLatestTransaction(purchase).revocation?.ownerTransactionId === transactionId,
  );
}

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
