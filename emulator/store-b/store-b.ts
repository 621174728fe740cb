import * as v from 'valibot';
import type { EmulatedStore, StoreContext, StoreDefinition } from '../emulated-store.ts';
import { playDue as playAllDue } from '../play-due.ts';
import { refusal } from '../refusal.ts';
import { actionsOn, dueAt, playDue } from './actions.ts';
import { rateLimited, unavailable } from './api-error.ts';
import { openBooks, productNamed, SavedBooks, savedBooks } from './books.ts';
import type { Change, Moment, Notice } from './change.ts';
import { createKeys, Keys, packageName, settingsOf } from './keys.ts';
import { pushOf } from './push.ts';
import type { Purchase } from './records.ts';
import { sell } from './selling.ts';
import type { Source } from './source.ts';
import { answerCall, hostNames } from './store-calls.ts';
import { summaryOf } from './summary.ts';
import { validateBody } from './validate-body.ts';

const Saved = v.object({ keys: Keys, books: SavedBooks });

/** Google Play: service-account tokens, purchases and orders of the Developer API, real-time developer notifications. */
export const storeB: StoreDefinition = {
  platform: 'store_b',
  aliases: ['google', 'android'],
  hosts: hostNames,
  open: openStoreB,
};

async function openStoreB({ now, saved, tell }: StoreContext): Promise<EmulatedStore> {
  const earlier = saved === undefined ? undefined : v.parse(Saved, saved);
  const keys = earlier?.keys ?? (await createKeys());
  const books = openBooks(earlier?.books);
  const source: Source = { books, keys, now };
  const enter = entering(source, tell);
  return {
    settings: settingsOf(keys),
    answer: (call) => answerCall(source, call),
    notification: (message) => pushOf(keys, message),
    troubles: { down: unavailable, 'rate-limited': rateLimited },
    buy: (order) => enter(sell(books, order, now()), now()),
    actions: purchaseActions(source, enter),
    find: (id) => (books.purchases.has(id) ? summaryOf(books, purchaseNamed(source, id)) : undefined),
    validateBody: (id, form) => validateBody(source, purchaseNamed(source, id), form),
    products: () => [...books.products.values()],
    purchases: () => [...books.purchases.values()].map((purchase) => summaryOf(books, purchase)),
    playUntil: (until) => {
      const play = (due: Purchase, at: number): unknown => enter(playDue(due, momentOf(source, due, at)), at);
      return playAllDue({ items: () => books.purchases.values(), dueAt, play }, until);
    },
    save: () => ({ keys, books: savedBooks(books) }),
  };
}

type Enter = (change: Change, at: number) => string;

/** Writes a change into the books, tells of it, and gives the id of the purchase to show. */
function entering({ books }: Source, tell: StoreContext['tell']): Enter {
  const enter: Enter = ({ purchase, notices, successor, voided }, at) => {
    books.purchases.set(purchase.id, purchase);
    if (voided !== undefined) books.voided.push(voided);
    // The new purchase is told of first.
    const shown = successor === undefined ? purchase.id : enter(successor, at);
    for (const notice of notices) tell({ purchaseId: purchase.id, at, native: native(notice, at) });
    return shown;
  };
  return enter;
}

const native = (notice: Notice, at: number): Readonly<Record<string, unknown>> => ({
  version: '1.0',
  packageName,
  eventTimeMillis: String(at),
  ...notice,
});

function purchaseActions(source: Source, enter: Enter): EmulatedStore['actions'] {
  const acts = Object.entries(actionsOn(source.books)).map(([name, action]) => {
    const act: EmulatedStore['actions'][string] = (id, details) => {
      const purchase = purchaseNamed(source, id);
      const moment = momentOf(source, purchase, source.now());
      return enter(action(purchase, moment, details), moment.at);
    };
    return [name, act] as const;
  });
  return Object.fromEntries(acts);
}

const momentOf = ({ books }: Source, { productId }: Purchase, at: number): Moment => ({
  at,
  product: productNamed(books, productId),
});

function purchaseNamed({ books }: Source, purchaseId: string): Purchase {
  const purchase = books.purchases.get(purchaseId);
  if (purchase === undefined) throw refusal(404, `There is no purchase ${purchaseId}.`);
  return purchase;
}
