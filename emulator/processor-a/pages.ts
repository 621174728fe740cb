import type Stripe from 'stripe';
import { type Answer, type StoreCall, text } from '../http-messages.ts';
import { idOf } from './books.ts';
import { payCheckout } from './checkout.ts';
import { cancel, uncancel } from './life.ts';
import { written } from './money.ts';
import type { Shop } from './shop.ts';
import { itemOf } from './subscription-objects.ts';

/** The pages to which customers are sent: `checkout.stripe.com/c/pay/{id}`. */
export function checkoutPage(shop: Shop, call: StoreCall): Answer {
  const id = call.path.split('/').at(-1) ?? '';
  const session = shop.books.objects['checkout/sessions'].get(id);
  if (session === undefined || !call.path.startsWith('/c/pay/')) return text(404, 'There is no such page.\n');
  if (call.method === 'GET') return page('Checkout', checkoutBody(shop, session));
  if (session.status !== 'open') return page('Checkout', `<p>This session is ${session.status}.</p>`);
  if (wishOf(call) === 'pay') {
    payCheckout(shop, id);
    return seeOther((session.success_url ?? '/').replaceAll('{CHECKOUT_SESSION_ID}', id));
  }
  // Who goes back may come again: only time ends the session.
  return seeOther(session.cancel_url ?? '/');
}

function checkoutBody({ books }: Shop, session: Stripe.Checkout.Session): string {
  if (session.status !== 'open') return `<p>This session is ${session.status}.</p>`;
  const lines = (books.lineItems.get(session.id) ?? []).map(
    ({ quantity, description, amount_total, currency }) =>
      `<li>${quantity} × ${escaped(description ?? '')}: ${escaped(written(amount_total, currency))}</li>`,
  );
  return `<ul>${lines.join('')}</ul><form method="post">${button('pay', 'Pay')} ${button('cancel', 'Cancel')}</form>`;
}

/** The page of the customer portal: `billing.stripe.com/p/session/{id}`. */
export function portalPage(shop: Shop, call: StoreCall): Answer {
  const id = call.path.split('/').at(-1) ?? '';
  const portal = shop.books.objects['billing_portal/sessions'].get(id);
  if (portal === undefined || !call.path.startsWith('/p/session/')) return text(404, 'There is no such page.\n');
  const own = [...shop.books.objects.subscriptions.values()].filter(
    ({ customer }) => idOf(customer) === portal.customer,
  );
  if (call.method !== 'POST') return page('Your subscriptions', portalBody(own, portal));
  const [wish, subscriptionId] = wishOf(call).split(' ');
  const subscription = own.find((one) => one.id === subscriptionId);
  if (subscription) (wish === 'cancel' ? cancel : uncancel)(shop, subscription, shop.now(), {});
  return seeOther(portal.return_url ?? '/');
}

function portalBody(own: readonly Stripe.Subscription[], { return_url }: Stripe.BillingPortal.Session): string {
  const rows = own.map((subscription) => {
    const { id, status, cancel_at_period_end } = subscription;
    const isOver = status === 'canceled';
    const wish = cancel_at_period_end ? button(`resume ${id}`, 'Resume') : button(`cancel ${id}`, 'Cancel');
    return `<li>${escaped(idOf(itemOf(subscription).price.product))}, ${status} ${isOver ? '' : wish}</li>`;
  });
  const back = return_url === null ? '' : `<p><a href="${escaped(return_url)}">Return</a></p>`;
  return `<form method="post"><ul>${rows.join('')}</ul></form>${back}`;
}

/** What the customer pressed. */
const wishOf = ({ body }: StoreCall): string => new URLSearchParams(body.toString('utf8')).get('wish') ?? '';

const button = (wish: string, label: string): string =>
  `<button name="wish" value="${escaped(wish)}">${label}</button>`;

/** Addresses of other schemes than the web's would run as script. */
const seeOther = (location: string): Answer => ({
  status: 303,
  headers: { location: /^https?:/.test(location) ? location : '/' },
  body: '',
});

const page = (title: string, body: string): Answer => ({
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1>${body}</body></html>`,
});

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (words: string): string => words.replace(/[&<>"']/g, (character) => entities[character] ?? '');
