import * as v from 'valibot';
import type { EmulatedStore, StoreContext, StoreDefinition } from '../emulated-store.ts';
import { playDue as playAllDue } from '../play-due.ts';
import { refusal } from '../refusal.ts';
import { actions } from './actions.ts';
import { openBooks, productOf, SavedBooks, savedBooks } from './books.ts';
import { createKeys, Keys } from './keys.ts';
import type { Purchase } from './records.ts';
import { dueAt, playDue } from './recurrence-life.ts';
import { sandboxId, sell } from './selling.ts';
import type { Source } from './source.ts';
import { answerCall, hostNames, rateLimited, unavailable } from './store-calls.ts';
import { summaryOf } from './summary.ts';
import { validateBody } from './validate-body.ts';

const Saved = v.object({ keys: Keys, books: SavedBooks });

/** The Microsoft Store: Entra tokens, StoreID keys, collections, recurrences and clawback, by query and by queue. It posts nothing. */
export const storeC: StoreDefinition = {
  platform: 'store_c',
  aliases: ['windows'],
  hosts: hostNames,
  open: openStoreC,
};

async function openStoreC({ now, saved }: StoreContext): Promise<EmulatedStore> {
  const earlier = saved === undefined ? undefined : v.parse(Saved, saved);
  const keys = earlier?.keys ?? (await createKeys());
  const books = openBooks(earlier?.books);
  const source: Source = { books, keys, now };
  const enter = (purchase: Purchase): string => {
    books.purchases.set(purchase.id, purchase);
    return purchase.id;
  };
  return {
    settings: settingsOf(keys),
    answer: (call) => answerCall(source, call),
    troubles: { down: unavailable, 'rate-limited': rateLimited },
    buy: (order) => enter(sell(books, order, now())),
    actions: purchaseActions(source, enter),
    find: (id) => (books.purchases.has(id) ? summaryOf(books, purchaseNamed(source, id), now()) : undefined),
    validateBody: (id, form) => validateBody(source, purchaseNamed(source, id), form),
    products: () => [...books.products.values()],
    purchases: () => [...books.purchases.values()].map((purchase) => summaryOf(books, purchase, now())),
    playUntil: (until) => {
      const play = (due: Purchase, at: number): unknown => enter(playDue(due, at, productOf(books, due)));
      return playAllDue({ items: () => books.purchases.values(), dueAt, play }, until);
    },
    save: () => ({ keys, books: savedBooks(books) }),
  };
}

function purchaseActions(source: Source, enter: (purchase: Purchase) => string): EmulatedStore['actions'] {
  const { books, now } = source;
  const acts = Object.entries(actions).map(([name, action]) => {
    const act: EmulatedStore['actions'][string] = (id, details) => {
      const purchase = purchaseNamed(source, id);
      return enter(action(purchase, { at: now(), product: productOf(books, purchase), details }));
    };
    return [name, act] as const;
  });
  return Object.fromEntries(acts);
}

function purchaseNamed({ books }: Source, purchaseId: string): Purchase {
  const purchase = books.purchases.get(purchaseId);
  if (purchase === undefined) throw refusal(404, `There is no purchase ${purchaseId}.`);
  return purchase;
}

const settingsOf = ({ tenantId, clientId, clientSecret }: Keys): EmulatedStore['settings'] => ({
  tenantId,
  clientId,
  clientSecret,
  sandboxId,
});
