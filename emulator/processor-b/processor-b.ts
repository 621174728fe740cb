import * as v from 'valibot';
import type { EmulatedStore, PurchaseSummary, StoreContext, StoreDefinition } from '../emulated-store.ts';
import { playDue } from '../play-due.ts';
import { refusal } from '../refusal.ts';
import { bare } from './answers.ts';
import { answerCall } from './api.ts';
import { bill, dueAt } from './billing.ts';
import { amountOf, type Books, openBooks, type Source, savedBooks } from './books.ts';
import { paymentActions, subscriptionActions } from './life.ts';
import { SavedBooks, type Wish } from './records.ts';
import { webhookOf } from './webhook.ts';
import { boughtWith, named, summaryOf, validateBody, wish } from './wishes.ts';

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
