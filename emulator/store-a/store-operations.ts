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

/** The store at work: its books, its clock and where its notifications go. */
export interface StoreOperations {
  readonly books: StoreState;
  readonly now: EmulatedStoreContext['now'];
  readonly tell: EmulatedStoreContext['emitNotification'];
}

/** Sells what is ordered and gives the id of the purchase. */
export function placeOrder(shop: StoreOperations, order: PurchaseOrder): string {
  const at = shop.now();
  const environment = order.sandbox ? 'Sandbox' : 'Production';
  const buyer = getOrCreateAccount(shop.books, { environment, applicationUsername: order.applicationUsername }, at);
  const product = getOrCreateProduct(shop.books, order, buyer);
  return saveTransition(
    shop,
    purchaseProduct(shop.books, { order, buyer, product }, createTransitionContext(shop.books, buyer, at)),
    at,
  );
}

/** Gives a family member a share of the purchase and gives the id of the share. */
export function shareWithMember(shop: StoreOperations, owner: Purchase, { applicationUsername }: ActionBody): string {
  if (applicationUsername === undefined) throw controlError(400, 'applicationUsername: share needs the family member.');
  requireOwnPurchase(owner);
  const at = shop.now();
  const { environment } = getAccount(shop.books, owner);
  const member = getOrCreateAccount(shop.books, { environment, applicationUsername }, at);
  const product = getProduct(shop.books, getLatestTransaction(owner).productId);
  if (listLinkedShares(shop.books, owner).some(({ accountId }) => accountId === member.id)) {
    throw controlError(422, `${owner.id} is shared with this customer already.`);
  }
  return saveTransition(
    shop,
    sharePurchase(owner, member, { product, moment: createTransitionContext(shop.books, member, at) }),
    at,
  );
}

/** Does something to a purchase and to the shares that follow it. */
export function applyActionToPurchase(
  shop: StoreOperations,
  purchase: Purchase,
  { apply, applyToShares }: Action,
  event: ActionInput,
): void {
  const { at, details = {} } = event;
  const concernsLatest =
    details.transactionId === undefined || details.transactionId === getLatestTransaction(purchase).transactionId;
  const followers = applyToShares && concernsLatest ? listLinkedShares(shop.books, purchase) : [];
  const momentOf = (one: Purchase): TransitionContext =>
    createTransitionContext(shop.books, getAccount(shop.books, one), at);
  saveTransition(shop, apply(purchase, momentOf(purchase), details), at);
  for (const follower of followers) {
    if (applyToShares) saveTransition(shop, applyToShares(follower, momentOf(follower), details), at);
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
function saveTransition(shop: StoreOperations, { purchase, notifications }: Transition, at: number): string {
  savePurchase(shop.books, purchase);
  const { environment } = getAccount(shop.books, purchase);
  for (const { transactionId, ...notice } of notifications) {
    const about = transactionId === undefined ? {} : { transactionId };
    shop.tell({ purchaseId: purchase.id, at, ...about, native: { ...notice, environment } });
  }
  return purchase.id;
}

const createTransitionContext = (books: StoreState, { environment }: Account, at: number): TransitionContext => ({
  at,
  product: (productId) => getProduct(books, productId),
  nextId: () => nextId(books, environment),
});
