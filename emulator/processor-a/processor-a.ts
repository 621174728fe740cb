import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import type { EmulatedStore, StoreContext, StoreDefinition } from '../emulated-store.ts';
import { type Answer, type StoreCall, text } from '../http-messages.ts';
import { type Account, keyIn } from './account.ts';
import { actionsIn } from './actions.ts';
import { answerApi } from './api.ts';
import { rateLimited, unavailable } from './api-error.ts';
import { openBooks, type SavedBooks, savedBooks } from './books.ts';
import { payCheckout } from './checkout.ts';
import { playUntil } from './due.ts';

import { checkoutPage, portalPage } from './pages.ts';
import { purchaseIds, summaryOf, takeOrder, validateBody } from './purchases.ts';
import type { Shop } from './shop.ts';
import { webhookOf } from './webhook.ts';

const Rows = v.array(v.tuple([v.string(), v.unknown()]));
const Saved = v.object({
  secretKey: v.string(),
  webhookSecret: v.string(),
  books: v.object({
    objects: v.record(v.string(), Rows),
    lineItems: Rows,
    wishes: Rows,
    renewing: v.array(v.string()),
    toRemind: v.optional(v.array(v.string()), []),
  }),
});

const accountFor = (platform: string, aliases: readonly string[]): StoreDefinition => ({
  platform,
  aliases,
  hosts: ['api.stripe.com', 'checkout.stripe.com', 'billing.stripe.com'],
  open: async (context) => openAccount(context),
});

/** Stripe: one account of which one key opens what was sold in live mode and in test mode. */
export const processorA = accountFor('processor_a', ['stripe']);

/** Another account of it, which is the deployment's and not an application's. */
export const serviceProcessorA = accountFor('service_processor_a', []);

function openAccount({ now, saved, tell }: StoreContext): EmulatedStore {
  const earlier = saved === undefined ? undefined : v.parse(Saved, saved);
  const secretKey = earlier?.secretKey ?? `sk_live_${randomBytes(24).toString('hex')}`;
  const webhookSecret = earlier?.webhookSecret ?? `whsec_${randomBytes(24).toString('hex')}`;
  const books = openBooks(earlier?.books satisfies SavedBooks | undefined);
  const shop: Shop = { books, now, tell };
  const account: Account = { shop, secretKey, answered: new Map() };
  return {
    settings: { secretKey, webhookSecrets: [webhookSecret] },
    answer: (call) => answerCall(account, call),
    isMeant: (call) => isMeant(account, call),
    notification: (message) => webhookOf(webhookSecret, message),
    troubles: { down: unavailable, 'rate-limited': rateLimited },
    buy: (order) => takeOrder(shop, order),
    actions: actionsIn(shop),
    find: (id) => summaryOf(books, id),
    validateBody: (id, form) => validateBody(books, id, form),
    payCheckout: (id) => (books.objects['checkout/sessions'].has(id) ? payCheckout(shop, id) : undefined),
    products: () => [...books.objects.products.values()].map((product) => ({ ...product })),
    purchases: () => purchaseIds(books).flatMap((id) => summaryOf(books, id) ?? []),
    playUntil: (until) => playUntil(shop, until),
    save: () => ({ secretKey, webhookSecret, books: savedBooks(books) }),
  };
}

/** Whether the call is for this account: by its key, or the page of a session of it. */
function isMeant({ shop, secretKey }: Account, call: StoreCall): boolean {
  if (call.host === 'api.stripe.com') return keyIn(call) === secretKey;
  const { objects } = shop.books;
  const id = call.path.split('/').at(-1) ?? '';
  return objects['checkout/sessions'].has(id) || objects['billing_portal/sessions'].has(id);
}

function answerCall(account: Account, call: StoreCall): Answer {
  switch (call.host) {
    case 'api.stripe.com':
      return answerApi(account, call);
    case 'checkout.stripe.com':
      return checkoutPage(account.shop, call);
    case 'billing.stripe.com':
      return portalPage(account.shop, call);
    default:
      return text(404, 'Not Found\n');
  }
}
