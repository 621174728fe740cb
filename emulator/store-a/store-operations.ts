import { controlError } from '../control-error.ts';
import type { EmulatedStoreContext } from '../emulated-store.ts';
import type { ActionBody, PurchaseOrder } from '../purchase-order.ts';
import { getOrCreateAccount } from './accounts.ts';
import type { Action } from './actions.ts';
import { getOrCreateProduct } from './catalogue.ts';
import { listLinkedShares, sharePurchase } from './family-sharing.ts';
import type { Transition, TransitionContext } from './purchase-transition.ts';
import { purchaseProduct } from './purchasing.ts';
import { type Account, getLatestTransaction, type Purchase } from './records.ts';
import { getAccount, getProduct, nextId, type StoreState, savePurchase } from './store-state.ts';

/** The store at work: its state, its clock and where its notifications go. */
export interface OperationContext {
  readonly state: StoreState;
  readonly now: EmulatedStoreContext['now'];
  readonly emitNotification: EmulatedStoreContext['emitNotification'];
}

/** Sells what is ordered and gives the id of the purchase. */
export function placeOrder(operation: OperationContext, order: PurchaseOrder): string {
  const at = operation.now();
  const environment = order.sandbox ? 'Sandbox' : 'Production';
  const buyer = getOrCreateAccount(
    operation.state,
    { environment, applicationUsername: order.applicationUsername },
    at,
  );
  const product = getOrCreateProduct(operation.state, order, buyer);
  return saveTransition(
    operation,
    purchaseProduct(operation.state, { order, buyer, product }, createTransitionContext(operation.state, buyer, at)),
    at,
  );
}

/** Gives a family member a share of the purchase and gives the id of the share. */
export function shareWithMember(
  operation: OperationContext,
  owner: Purchase,
  { applicationUsername }: ActionBody,
): string {
  if (applicationUsername === undefined) throw controlError(400, 'applicationUsername: share needs the family member.');
  requireOwnPurchase(owner);
  const at = operation.now();
  const { environment } = getAccount(operation.state, owner);
  const member = getOrCreateAccount(operation.state, { environment, applicationUsername }, at);
  const product = getProduct(operation.state, getLatestTransaction(owner).productId);
  if (listLinkedShares(operation.state, owner).some(({ accountId }) => accountId === member.id)) {
    throw controlError(422, `${owner.id} is shared with this customer already.`);
  }
  return saveTransition(
    operation,
    sharePurchase(owner, member, { product, moment: createTransitionContext(operation.state, member, at) }),
    at,
  );
}

/** Does something to a purchase and to the shares that follow it. */
export function applyActionToPurchase(
  operation: OperationContext,
  purchase: Purchase,
  { apply, applyToShares }: Action,
  event: ActionInput,
): void {
  const { at, details = {} } = event;
  const concernsLatest =
    details.transactionId === undefined || details.transactionId === getLatestTransaction(purchase).transactionId;
  const followers = applyToShares && concernsLatest ? listLinkedShares(operation.state, purchase) : [];
  const momentOf = (one: Purchase): TransitionContext =>
    createTransitionContext(operation.state, getAccount(operation.state, one), at);
  saveTransition(operation, apply(purchase, momentOf(purchase), details), at);
  for (const follower of followers) {
    if (applyToShares) saveTransition(operation, applyToShares(follower, momentOf(follower), details), at);
  }
}

interface ActionInput {
  readonly at: number;
  readonly details?: ActionBody;
}

/** Shares follow their owner's purchase; nothing else can happen to them but losing them. */
export function requireOwnPurchase({ id, sharedFrom }: Purchase): void {
  if (sharedFrom !== undefined)
    throw controlError(422, `${id} is shared by a family member and follows ${sharedFrom}.`);
}

/** Writes a change down, sends its notifications and gives the id of its purchase. */
function saveTransition(operation: OperationContext, { purchase, notifications }: Transition, at: number): string {
  savePurchase(operation.state, purchase);
  const { environment } = getAccount(operation.state, purchase);
  for (const { transactionId, ...notice } of notifications) {
    const about = transactionId === undefined ? {} : { transactionId };
    operation.emitNotification({ purchaseId: purchase.id, at, ...about, native: { ...notice, environment } });
  }
  return purchase.id;
}

const createTransitionContext = (state: StoreState, { environment }: Account, at: number): TransitionContext => ({
  at,
  product: (productId) => getProduct(state, productId),
  nextId: () => nextId(state, environment),
});
