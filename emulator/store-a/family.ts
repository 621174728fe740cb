import { wholeSecond } from '../calendar.ts';
import type { Books } from './books.ts';
import { type Change, demand, type Moment } from './change.ts';
import { firstNotice } from './purchasing.ts';
import { type Account, latest, type Product, type Purchase } from './records.ts';

/** A family member gets the purchase as well: transactions of their own, paid by nobody, ending when the owner's do. */
export function share(
  owner: Purchase,
  member: Account,
  { product, moment }: { product: Product; moment: Moment },
): Change {
  const isShareable = product.type === 'paid subscription' || product.type === 'non consumable';
  demand(isShareable, owner, `is a ${product.type}, which families do not share`);
  const { state } = owner.subscription ?? {};
  const isOwned = state === undefined ? latest(owner).revocation === undefined : state === 'ACTIVE';
  demand(isOwned, owner, 'is not active');
  demand(member.id !== owner.accountId, owner, 'belongs to this customer');
  return { purchase: sharedWith(owner, member, moment), notices: [firstNotice(product)] };
}

/** The shares that still live and die with the owner's purchase: those in the same state. */
export const followersOf = (books: Books, owner: Purchase): Purchase[] =>
  [...books.purchases.values()].filter(
    (purchase) =>
      purchase.sharedFrom === owner.id &&
      purchase.subscription?.state === owner.subscription?.state &&
      latest(purchase).revocation === undefined,
  );

function sharedWith(owner: Purchase, member: Account, moment: Moment): Purchase {
  const { webOrderLineItemId, expiresDate, productId, currency } = latest(owner);
  const transactionId = moment.nextId();
  const purchaseDate = wholeSecond(moment.at);
  return {
    id: transactionId,
    accountId: member.id,
    sharedFrom: owner.id,
    transactions: [
      {
        transactionId,
        ...(webOrderLineItemId !== undefined && { webOrderLineItemId: moment.nextId() }),
        ...(expiresDate !== undefined && { expiresDate }),
        productId,
        currency,
        purchaseDate,
        priceMicros: 0,
        quantity: 1,
        reason: 'PURCHASE',
        changedAt: moment.at,
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
