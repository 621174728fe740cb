import * as v from 'valibot';
import type { EmulatedStore, PurchaseSummary, StoreContext, StoreDefinition } from '../emulated-store.ts';
import type { Order } from '../orders.ts';
import { playDue } from '../play-due.ts';
import { refusal } from '../refusal.ts';
import { userUuid } from '../user-token.ts';
import { bare } from './answers.ts';
import { answerCall } from './api.ts';
import { bill, dueAt } from './billing.ts';
import { amountOf, type Books, openBooks, type Source, savedBooks, token } from './books.ts';
import { paymentActions, subscriptionActions } from './life.ts';
import { type Payment, SavedBooks, type Subscription, type Wish } from './records.ts';
import { statusAt } from './views.ts';
import { webhookOf } from './webhook.ts';

/** Braintree: the gateway's API, its webhook kinds, and nonces as a client's form makes them. */
export const processorB: StoreDefinition = {
  platform: 'processor_b',
  aliases: ['braintree'],
  hosts: ['api.braintreegateway.com', 'api.sandbox.braintreegateway.com'],
  open: openProcessorB,
};

async function openProcessorB({ now, saved, tell }: StoreContext): Promise<EmulatedStore> {
  const books = openBooks(saved === undefined ? undefined : v.parse(SavedBooks, saved));
  const source: Source = {
    books,
    now,
    tell,
  };
  const settings = settingsOf(books);
  const wishes = (): PurchaseSummary[] => [...books.wishes.values()].map((wish) => summaryOf(source, wish));
  const find = (id: string): PurchaseSummary | undefined =>
    wishes().find((one) => one.id === id || one.purchaseId === id);
  return {
    settings,
    answer: (call) => answerCall(source, call),
    troubles: { down: () => bare(503), 'rate-limited': () => bare(429) },
    buy: (order) => {
      const nonce = wish(books, order);
      // Whoever holds the settings sees what is new for sale.
      Object.assign(settings.catalogue as object, catalogueOf(books));
      return nonce;
    },
    actions: actionsOn(source, (id) => named(books, String(find(id)?.id))),
    find,
    notification: (message) => webhookOf(books, message),
    validateBody: (id, form) => validateBody(named(books, String(find(id)?.id)), form),
    products: () => [...books.products.values()],
    purchases: wishes,
    playUntil: (until) =>
      playDue({ items: () => books.subscriptions.values(), dueAt, play: (due, at) => bill(source, due, at) }, until),
    save: () => savedBooks(books),
  };
}

/** Nothing is bought until the nonce is validated: the wish has the nonce's name and then shows what was bought. */
function wish({ products, wishes }: Books, order: Order): string {
  const period = order.period ?? products.get(order.productId)?.period ?? 'P1M';
  const isPlan = order.type === 'paid subscription';
  if (isPlan && !/^P\d+[MY]$/.test(period)) throw refusal(422, 'processor_b bills plans by the month.');
  const priced = { priceMicros: 4_990_000, currency: 'USD', ...products.get(order.productId), ...order };
  const { applicationUsername: _user, trial: _trial, autoRenew: _renew, form: _form, ...product } = priced;
  products.set(order.productId, { ...product, ...(isPlan && { period }) });
  const nonce = `tokencc_bh_${token(24)}`;
  wishes.set(nonce, { nonce, order: { ...priced, ...(isPlan && { period }) } });
  return nonce;
}

function named({ wishes }: Books, nonce: string): Wish {
  const found = wishes.get(nonce);
  if (!found) throw refusal(404, `There is no purchase ${nonce}.`);
  return found;
}

interface Bought {
  readonly payment?: Payment;
  readonly subscription?: Subscription;
}

function boughtWith({ payments, methods, subscriptions }: Books, { nonce }: Wish): Bought {
  const payment = [...payments.values()].find((one) => one.nonce === nonce);
  const method = [...methods.values()].find((one) => one.nonce === nonce);
  const subscription = [...subscriptions.values()].find((one) => one.token === method?.token);
  return { ...(payment && { payment }), ...(subscription && { subscription }) };
}

function actionsOn(source: Source, wishOf: (id: string) => Wish): EmulatedStore['actions'] {
  const names = Object.keys(subscriptionActions);
  return Object.fromEntries(
    names.map((name) => [
      name,
      (id: string): string => {
        const asked = wishOf(id);
        const { payment, subscription } = boughtWith(source.books, asked);
        if (!payment && !subscription) throw refusal(422, 'Nothing is bought until the nonce is validated.');
        if (subscription) subscriptionActions[name]?.(source, subscription);
        else if (payment) {
          const act = paymentActions[name];
          if (act === undefined) throw refusal(422, `A single payment does not know ${name}.`);
          act(source, payment);
        }
        return asked.nonce;
      },
    ]),
  );
}

function summaryOf({ books, now }: Source, asked: Wish): PurchaseSummary {
  const { payment, subscription } = boughtWith(books, asked);
  const { productId, type, applicationUsername } = asked.order;
  return {
    id: asked.nonce,
    productId,
    type,
    state: subscription?.status ?? (payment ? statusAt(payment, now()) : 'nonce'),
    sandbox: true,
    ...(applicationUsername !== undefined && { applicationUsername }),
    ...((payment || subscription) && { purchaseId: subscription?.id ?? payment?.id }),
  };
}

function validateBody({ nonce, order }: Wish, form = 'neutral'): Readonly<Record<string, unknown>> {
  if (form !== 'neutral' && form !== 'brand') throw refusal(400, 'form: expected one of neutral, brand.');
  const { productId, type, priceMicros, currency, applicationUsername } = order;
  return {
    id: productId,
    // The client that exists today calls all that it sells through this processor a consumable.
    type: form === 'brand' ? 'consumable' : type,
    priceMicros,
    currency,
    transaction: {
      type: form === 'brand' ? 'braintree' : 'processor_b',
      id: 'nonce',
      paymentMethodNonce: nonce,
      deviceData: JSON.stringify({ correlation_id: nonce.slice(-8) }),
    },
    ...(applicationUsername !== undefined && {
      additionalData: { applicationUsername, obfuscatedUsername: userUuid(applicationUsername) },
    }),
  };
}

const settingsOf = (books: Books): EmulatedStore['settings'] => ({
  merchantId: books.merchantId,
  publicKey: books.publicKey,
  privateKey: books.privateKey,
  environment: 'sandbox',
  catalogue: catalogueOf(books),
});

const catalogueOf = ({ products }: Books): Readonly<Record<string, object>> =>
  Object.fromEntries(
    [...products.values()].map((product) => [
      product.productId,
      {
        type: product.type,
        amount: amountOf(product),
        currency: product.currency ?? 'USD',
        ...(product.period !== undefined && { planId: product.productId }),
      },
    ]),
  );
