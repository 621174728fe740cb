import type { ActionDetails } from '../orders.ts';
import { refusal } from '../refusal.ts';
import type { Books } from './books.ts';
import { stockedProduct } from './catalogue.ts';
import { type Change, type Moment, subscriptionOf, told, toldTest } from './change.ts';
import { ended, expire, lapse, refund, revoke } from './ending.ts';
import { failPayment, hold } from './failing.ts';
import { changePlan } from './plan-change.ts';
import type { Product, Purchase } from './records.ts';
import { lacksConsent, recover, renew, resume } from './renewing.ts';
import { acceptPrice, cancel, pause, raisePrice, uncancel } from './wishes.ts';

type Step = (purchase: Purchase, moment: Moment, details: ActionDetails) => Change;

/** What can happen to a purchase at this store. */
export const actionsOn = (books: Books): Readonly<Record<string, Step>> => ({
  renew,
  cancel: (purchase, { at }) => cancel(purchase, at),
  uncancel,
  'fail-payment': (purchase, moment, { grace }) => failPayment(purchase, moment, grace),
  recover,
  expire: (purchase, { at }) => expire(purchase, at),
  refund: (purchase, { at }, details) => refund(purchase, at, details),
  revoke: (purchase, { at }) => revoke(purchase, at),
  pause: (purchase, { at }, { period }) => pause(purchase, at, period),
  resume,
  'change-plan': (purchase, moment, details) => changePlan(purchase, wantedPlan(books, purchase, details), moment),
  'raise-price': (purchase, moment, { priceMicros }) => raisePrice(purchase, moment, priceMicros),
  'accept-price': acceptPrice,
  'test-notification': (purchase) => ({ purchase, notices: [toldTest] }),
});

function wantedPlan(books: Books, purchase: Purchase, { productId, ...terms }: ActionDetails): Product {
  if (productId === undefined) throw refusal(400, 'productId: change-plan needs the product to change to.');
  subscriptionOf(purchase);
  return stockedProduct(books, { ...terms, productId, type: 'paid subscription' });
}

/** When something happens to a purchase by itself. */
export function dueAt({ subscription }: Purchase): number | undefined {
  if (subscription === undefined || subscription.state === 'EXPIRED') return undefined;
  const { state, holdEnds, resumesAt, expiryTime } = subscription;
  if (state === 'ON_HOLD') return holdEnds;
  return state === 'PAUSED' ? resumesAt : expiryTime;
}

/** What happens by itself at that moment. */
export function playDue(purchase: Purchase, moment: Moment): Change {
  const { state, playsRenewals } = subscriptionOf(purchase);
  if (state === 'IN_GRACE_PERIOD') return hold(purchase, moment.at);
  if (state === 'PAUSED') return resume(purchase, moment);
  if (state !== 'ACTIVE') return expire(purchase, moment.at);
  if (lacksConsent(purchase)) {
    const notices = [told(purchase, 'CANCELED'), told(purchase, 'EXPIRED')];
    return { purchase: ended(purchase, moment.at), notices };
  }
  return playsRenewals ? renew(purchase, moment) : lapse(purchase, moment.at);
}
