import { controlError } from '../control-error.ts';
import type { EmulatedStoreContext } from '../emulated-store.ts';
import { getProduct } from '../product.ts';
import type { ActionBody, PurchaseOrder } from '../purchase-order.ts';
import { getOrCreateAccount } from './accounts.ts';
import type { Action } from './actions.ts';
import { getOrCreateProduct } from './catalogue.ts';
import { listLinkedShares, sharePurchase } from './family-sharing.ts';
import type { Transition, TransitionContext } from './purchase-transition.ts';
import { purchaseProduct } from './purchasing.ts';
import { type Account, getLatestTransaction, type Purchase } from './records.ts';
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
  const at = context.now();
  const { environment } = getAccount(context.state, owner);
  const member = getOrCreateAccount(context.state, { environment, applicationUsername }, at);
  const product = getProduct(context.state, getLatestTransaction(owner).productId);
  if (listLinkedShares(context.state, owner).some(({ accountId }) => accountId === member.id)) {
    throw controlError(422, `${owner.id} is already shared with this customer.`);
  }
  return saveTransition(
    context,
    sharePurchase(owner, member, { product, context: createTransitionContext(context.state, member, at) }),
    at,
  );
}

/** Applies an action to a purchase and to the shares that follow it. */
export function applyActionToPurchase(
  context: OperationContext,
  purchase: Purchase,
  { apply, applyToShares }: Action,
  { at, details = {} }: ActionInput,
): void {
  const affectsLatest =
    details.transactionId === undefined || details.transactionId === getLatestTransaction(purchase).transactionId;
  const followers = applyToShares && affectsLatest ? listLinkedShares(context.state, purchase) : [];
  const createContext = (target: Purchase): TransitionContext =>
    createTransitionContext(context.state, getAccount(context.state, target), at);
  saveTransition(context, apply(purchase, createContext(purchase), details), at);
  for (const follower of followers) {
    if (applyToShares) saveTransition(context, applyToShares(follower, createContext(follower), details), at);
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
