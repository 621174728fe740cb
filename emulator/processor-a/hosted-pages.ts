import type Stripe from 'stripe';
import { type HttpResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { getId } from './account-objects.ts';
import type { AccountState } from './account-state.ts';
import { payCheckout } from './checkout.ts';
import { formatAmount } from './money.ts';
import { getItem } from './subscription-objects.ts';
import { cancelAtPeriodEnd, resumeRenewal } from './subscription-transitions.ts';

/** The pages to which customers are sent: `checkout.stripe.com/c/pay/{id}`. */
export function renderCheckoutPage(shop: AccountState, call: StoreHttpRequest): HttpResponse {
  const id = call.path.split('/').at(-1) ?? '';
  const session = shop.books.objects['checkout/sessions'].get(id);
  if (session === undefined || !call.path.startsWith('/c/pay/')) return textResponse(404, 'There is no such page.\n');
  if (call.method === 'GET') return page('Checkout', checkoutBody(shop, session));
  if (session.status !== 'open') return page('Checkout', `<p>This session is ${session.status}.</p>`);
  if (getPressedButton(call) === 'pay') {
    payCheckout(shop, id);
    return redirectResponse((session.success_url ?? '/').replaceAll('{CHECKOUT_SESSION_ID}', id));
  }
  // Who goes back may come again: only time ends the session.
  return redirectResponse(session.cancel_url ?? '/');
}

function checkoutBody({ books }: AccountState, session: Stripe.Checkout.Session): string {
  if (session.status !== 'open') return `<p>This session is ${session.status}.</p>`;
  const lines = (books.lineItems.get(session.id) ?? []).map(
    ({ quantity, description, amount_total, currency }) =>
      `<li>${quantity} × ${escapeHtml(description ?? '')}: ${escapeHtml(formatAmount(amount_total, currency))}</li>`,
  );
  return `<ul>${lines.join('')}</ul><form method="post">${button('pay', 'Pay')} ${button('cancel', 'Cancel')}</form>`;
}

/** The page of the customer portal: `billing.stripe.com/p/session/{id}`. */
export function renderPortalPage(shop: AccountState, call: StoreHttpRequest): HttpResponse {
  const id = call.path.split('/').at(-1) ?? '';
  const portal = shop.books.objects['billing_portal/sessions'].get(id);
  if (portal === undefined || !call.path.startsWith('/p/session/'))
    return textResponse(404, 'There is no such page.\n');
  const own = [...shop.books.objects.subscriptions.values()].filter(
    ({ customer }) => getId(customer) === portal.customer,
  );
  if (call.method !== 'POST') return page('Your subscriptions', portalBody(own, portal));
  const [wish, subscriptionId] = getPressedButton(call).split(' ');
  const subscription = own.find((one) => one.id === subscriptionId);
  if (subscription) (wish === 'cancel' ? cancelAtPeriodEnd : resumeRenewal)(shop, subscription, shop.now(), {});
  return redirectResponse(portal.return_url ?? '/');
}

function portalBody(own: readonly Stripe.Subscription[], { return_url }: Stripe.BillingPortal.Session): string {
  const rows = own.map((subscription) => {
    const { id, status, cancel_at_period_end } = subscription;
    const isOver = status === 'canceled';
    const wish = cancel_at_period_end ? button(`resume ${id}`, 'Resume') : button(`cancel ${id}`, 'Cancel');
    return `<li>${escapeHtml(getId(getItem(subscription).price.product))}, ${status} ${isOver ? '' : wish}</li>`;
  });
  const back = return_url === null ? '' : `<p><a href="${escapeHtml(return_url)}">Return</a></p>`;
  return `<form method="post"><ul>${rows.join('')}</ul></form>${back}`;
}

/** What the customer pressed. */
const getPressedButton = ({ body }: StoreHttpRequest): string =>
  new URLSearchParams(body.toString('utf8')).get('wish') ?? '';

const button = (wish: string, label: string): string =>
  `<button name="wish" value="${escapeHtml(wish)}">${label}</button>`;

/** Addresses of other schemes than the web's would run as script. */
const redirectResponse = (location: string): HttpResponse => ({
  status: 303,
  headers: { location: /^https?:/.test(location) ? location : '/' },
  body: '',
});

const page = (title: string, body: string): HttpResponse => ({
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
const escapeHtml = (words: string): string => words.replace(/[&<>"']/g, (character) => entities[character] ?? '');
