import type { StoreContext } from '../emulated-store.ts';
import type { ActionDetails, Order } from '../orders.ts';
import { refusal } from '../refusal.ts';
import { accountFor } from './accounts.ts';
import type { Action } from './actions.ts';
import { accountOf, type Books, enter, nextId, productNamed } from './books.ts';
import { stockedProduct } from './catalogue.ts';
import type { Change, Moment } from './change.ts';
import { followersOf, share } from './family.ts';
import { sell } from './purchasing.ts';
import { type Account, latest, type Purchase } from './records.ts';

/** The store at work: its books, its clock and where its notifications go. */
export interface Shop {
  readonly books: Books;
  readonly now: StoreContext['now'];
  readonly tell: StoreContext['tell'];
}

/** Sells what is ordered and gives the id of the purchase. */
export function takeOrder(shop: Shop, order: Order): string {
  const at = shop.now();
  const environment = order.sandbox ? 'Sandbox' : 'Production';
  const buyer = accountFor(shop.books, { environment, applicationUsername: order.applicationUsername }, at);
  const product = stockedProduct(shop.books, order, buyer);
  return settle(shop, sell(shop.books, { order, buyer, product }, momentAt(shop.books, buyer, at)), at);
}

/** Gives a family member a share of the purchase and gives the id of the share. */
export function shareWith(shop: Shop, owner: Purchase, { applicationUsername }: ActionDetails): string {
  if (applicationUsername === undefined) throw refusal(400, 'applicationUsername: share needs the family member.');
  refuseShare(owner);
  const at = shop.now();
  const { environment } = accountOf(shop.books, owner);
  const member = accountFor(shop.books, { environment, applicationUsername }, at);
  const product = productNamed(shop.books, latest(owner).productId);
  if (followersOf(shop.books, owner).some(({ accountId }) => accountId === member.id)) {
    throw refusal(422, `${owner.id} is shared with this customer already.`);
  }
  return settle(shop, share(owner, member, { product, moment: momentAt(shop.books, member, at) }), at);
}

/** Does something to a purchase and to the shares that follow it. */
export function happen(shop: Shop, purchase: Purchase, { step, followed }: Action, event: HappensAt): void {
  const { at, details = {} } = event;
  const concernsLatest =
    details.transactionId === undefined || details.transactionId === latest(purchase).transactionId;
  const followers = followed && concernsLatest ? followersOf(shop.books, purchase) : [];
  const momentOf = (one: Purchase): Moment => momentAt(shop.books, accountOf(shop.books, one), at);
  settle(shop, step(purchase, momentOf(purchase), details), at);
  for (const follower of followers) {
    if (followed) settle(shop, followed(follower, momentOf(follower), details), at);
  }
}

interface HappensAt {
  readonly at: number;
  readonly details?: ActionDetails;
}

/** Shares follow their owner's purchase; nothing else can happen to them but losing them. */
export function refuseShare({ id, sharedFrom }: Purchase): void {
  if (sharedFrom !== undefined) throw refusal(422, `${id} is shared by a family member and follows ${sharedFrom}.`);
}

/** Writes a change down, sends its notifications and gives the id of its purchase. */
function settle(shop: Shop, { purchase, notices }: Change, at: number): string {
  enter(shop.books, purchase);
  const { environment } = accountOf(shop.books, purchase);
  for (const { transactionId, ...notice } of notices) {
    const about = transactionId === undefined ? {} : { transactionId };
    shop.tell({ purchaseId: purchase.id, at, ...about, native: { ...notice, environment } });
  }
  return purchase.id;
}

const momentAt = (books: Books, { environment }: Account, at: number): Moment => ({
  at,
  product: (productId) => productNamed(books, productId),
  nextId: () => nextId(books, environment),
});
