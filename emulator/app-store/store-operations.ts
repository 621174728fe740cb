import { controlError } from '../control-error.ts';
import type { EmulatedStoreContext } from '../emulated-store.ts';
import { getProduct } from '../product.ts';
import type { ActionBody, PurchaseOrder } from '../purchase-order.ts';
import { getOrCreateAccount } from './accounts.ts';
import type { Action } from './action.ts';
import { getOrCreateProduct } from './catalogue.ts';
import { assignSeat, listLinkedShares, sharePurchase } from './family-sharing.ts';
import type { Transition, TransitionContext } from './purchase-transition.ts';
import { purchaseProduct } from './purchasing.ts';
import { type Account, getLatestTransaction, type Purchase } from './records.ts';
import { revoke } from './revocation.ts';
import { getAccount, nextId, type StoreState, savePurchase } from './store-state.ts';

/** State, clock and notification emitter of the store, for operations that change purchases. */
export interface OperationContext {
  readonly state: StoreState;
  readonly now: EmulatedStoreContext['now'];
  readonly emitNotification: EmulatedStoreContext['emitNotification'];
}

/** Executes an order and returns the id of the purchase. */
export function placeOrder(context: OperationContext, order: PurchaseOrder): string {
  const at = context.now();
  const environment = order.sandbox ? 'Sandbox' : 'Production';
  const buyer = getOrCreateAccount(context.state, { environment, applicationUsername: order.applicationUsername }, at);
  const product = getOrCreateProduct(context.state, order, buyer);
  return saveTransition(
    context,
    purchaseProduct(context.state, { order, buyer, product }, createTransitionContext(context.state, buyer, at)),
    at,
  );
}

/** Shares a purchase with a family member and returns the id of the share. */
export function shareWithMember(
  context: OperationContext,
  owner: Purchase,
  { applicationUsername }: ActionBody,
): string {
  if (applicationUsername === undefined)
    throw controlError(400, 'applicationUsername: share requires the family member.');
  requireOwnPurchase(owner);
  return saveShare(context, owner, { applicationUsername, share: sharePurchase });
}

/** Assigns a seat to a customer and returns the id of the customer's purchase. */
export function assignSeatTo(context: OperationContext, owner: Purchase, { applicationUsername }: ActionBody): string {
  if (applicationUsername === undefined)
    throw controlError(400, 'applicationUsername: assign-seat requires the group member.');
  requireOwnPurchase(owner);
  const assignedCount = listLinkedShares(context.state, owner).length;
  return saveShare(context, owner, {
    applicationUsername,
    share: (purchase, member, details) => assignSeat(purchase, member, { ...details, assignedCount }),
  });
}

/**
 * Takes away an assigned seat. The purchase is the member's, or the purchaser's with the member, by default the latest.
 * Returns the id of the member's purchase.
 */
export function removeSeat(context: OperationContext, purchase: Purchase, { applicationUsername }: ActionBody): string {
  const assigned = purchase.isAssigned ? [purchase] : listLinkedShares(context.state, purchase);
  const seat = assigned.findLast(
    (share) =>
      applicationUsername === undefined || getAccount(context.state, share).applicationUsername === applicationUsername,
  );
  if (!seat?.isAssigned) throw controlError(422, `${purchase.id} does not have this assigned seat.`);
  const at = context.now();
  const transitionContext = createTransitionContext(context.state, getAccount(context.state, seat), at);
  return saveTransition(context, revoke(seat, transitionContext), at);
}

interface Share {
  readonly applicationUsername: string;
  readonly share: typeof sharePurchase;
}

function saveShare(context: OperationContext, owner: Purchase, { applicationUsername, share }: Share): string {
  const at = context.now();
  const { environment } = getAccount(context.state, owner);
  const member = getOrCreateAccount(context.state, { environment, applicationUsername }, at);
  const product = getProduct(context.state, getLatestTransaction(owner).productId);
  if (listLinkedShares(context.state, owner).some(({ accountId }) => accountId === member.id)) {
    throw controlError(422, `${owner.id} is already shared with this customer.`);
  }
  const transitionContext = createTransitionContext(context.state, member, at);
  return saveTransition(context, share(owner, member, { product, context: transitionContext }), at);
}

/** Applies an action to a purchase and to the shares that follow it. */
export function applyActionToPurchase(
  context: OperationContext,
  purchase: Purchase,
  { apply, applyToShares, listShares = listLinkedShares }: Action,
  { at, details = {} }: ActionInput,
): void {
  const { transactionId } = getLatestTransaction(purchase);
  const affectsLatest = details.transactionId === undefined || details.transactionId === transactionId;
  const followers = applyToShares && affectsLatest ? listShares(context.state, purchase) : [];
  const createContext = (target: Purchase): TransitionContext =>
    createTransitionContext(context.state, getAccount(context.state, target), at);
  saveTransition(context, apply(purchase, createContext(purchase), details), at);
  for (const follower of followers) {
    const transition = applyToShares?.(follower, createContext(follower), { ...details, transactionId });
    if (transition) saveTransition(context, transition, at);
  }
}

interface ActionInput {
  readonly at: number;
  readonly details?: ActionBody;
}

/** Throws 422 for a family share: it follows the owner's purchase and can only be revoked. */
export function requireOwnPurchase({ id, sharedFrom }: Purchase): void {
  if (sharedFrom !== undefined) throw controlError(422, `${id} is a family share and follows ${sharedFrom}.`);
}

/** Saves a transition, emits its notifications and returns the id of the purchase. */
function saveTransition(context: OperationContext, { purchase, notifications }: Transition, at: number): string {
  savePurchase(context.state, purchase);
  const { environment } = getAccount(context.state, purchase);
  for (const { transactionId, ...type } of notifications) {
    const reference = transactionId === undefined ? {} : { transactionId };
    context.emitNotification({ purchaseId: purchase.id, at, ...reference, native: { ...type, environment } });
  }
  return purchase.id;
}

const createTransitionContext = (state: StoreState, { environment }: Account, at: number): TransitionContext => ({
  at,
  product: (productId) => getProduct(state, productId),
  nextId: () => nextId(state, environment),
});
