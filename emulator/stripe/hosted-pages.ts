import type Stripe from 'stripe';
import { type HttpResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { getId } from './account-objects.ts';
import type { AccountState } from './account-state.ts';
import { payCheckout } from './checkout.ts';
import { formatAmount } from './money.ts';
import { getItem } from './subscription-objects.ts';
import { cancelAtPeriodEnd, resumeRenewal } from './subscription-transitions.ts';

/** Renders the checkout page `checkout.stripe.com/c/pay/{id}` and handles its buttons. */
export function renderCheckoutPage(state: AccountState, call: StoreHttpRequest): HttpResponse {
  const id = call.path.split('/').at(-1) ?? '';
  const session = state.records.objects['checkout/sessions'].get(id);
  if (session === undefined || !call.path.startsWith('/c/pay/')) return textResponse(404, 'Page not found.\n');
  if (call.method === 'GET') return renderPage('Checkout', renderCheckoutBody(state, session));
  if (session.status !== 'open') return renderPage('Checkout', `<p>This session is ${session.status}.</p>`);
  if (getPressedButton(call) === 'pay') {
    payCheckout(state, id);
    return redirectResponse((session.success_url ?? '/').replaceAll('{CHECKOUT_SESSION_ID}', id));
  }
  // A canceled payment can be resumed until the session expires.
  return redirectResponse(session.cancel_url ?? '/');
}

function renderCheckoutBody({ records }: AccountState, session: Stripe.Checkout.Session): string {
  if (session.status !== 'open') return `<p>This session is ${session.status}.</p>`;
  const lines = (records.lineItems.get(session.id) ?? []).map(
    ({ quantity, description, amount_total, currency }) =>
      `<li>${quantity} × ${escapeHtml(description ?? '')}: ${escapeHtml(formatAmount(amount_total, currency))}</li>`,
  );
  return `<ul>${lines.join('')}</ul><form method="post">${renderButton('pay', 'Pay')} ${renderButton('cancel', 'Cancel')}</form>`;
}

/** Renders the customer portal `billing.stripe.com/p/session/{id}` and handles its buttons. */
export function renderPortalPage(state: AccountState, call: StoreHttpRequest): HttpResponse {
  const id = call.path.split('/').at(-1) ?? '';
  const portal = state.records.objects['billing_portal/sessions'].get(id);
  if (portal === undefined || !call.path.startsWith('/p/session/')) return textResponse(404, 'Page not found.\n');
  const subscriptions = [...state.records.objects.subscriptions.values()].filter(
    ({ customer }) => getId(customer) === portal.customer,
  );
  if (call.method !== 'POST') return renderPage('Your subscriptions', renderPortalBody(subscriptions, portal));
  const [action, subscriptionId] = getPressedButton(call).split(' ');
  const subscription = subscriptions.find(({ id: ownId }) => ownId === subscriptionId);
  if (subscription) (action === 'cancel' ? cancelAtPeriodEnd : resumeRenewal)(state, subscription, state.now(), {});
  return redirectResponse(portal.return_url ?? '/');
}

function renderPortalBody(
  subscriptions: readonly Stripe.Subscription[],
  { return_url }: Stripe.BillingPortal.Session,
): string {
  const rows = subscriptions.map((subscription) => {
    const { id, status, cancel_at_period_end } = subscription;
    const isEnded = status === 'canceled';
    const changeButton = cancel_at_period_end
      ? renderButton(`resume ${id}`, 'Resume')
      : renderButton(`cancel ${id}`, 'Cancel');
    return `<li>${escapeHtml(getId(getItem(subscription).price.product))}, ${status} ${isEnded ? '' : changeButton}</li>`;
  });
  const back = return_url === null ? '' : `<p><a href="${escapeHtml(return_url)}">Return</a></p>`;
  return `<form method="post"><ul>${rows.join('')}</ul></form>${back}`;
}

/** Returns the value of the pressed button. */
const getPressedButton = ({ body }: StoreHttpRequest): string =>
  new URLSearchParams(body.toString('utf8')).get('action') ?? '';

const renderButton = (action: string, label: string): string =>
  `<button name="action" value="${escapeHtml(action)}">${label}</button>`;

/** Allows only http and https, because a browser runs URLs of other schemes as script. */
const redirectResponse = (location: string): HttpResponse => ({
  status: 303,
  headers: { location: /^https?:/.test(location) ? location : '/' },
  body: '',
});

const renderPage = (title: string, body: string): HttpResponse => ({
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
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
