import * as v from 'valibot';
import type { EmulatedStore, StoreContext, StoreDefinition } from '../emulated-store.ts';
import { playDue } from '../play-due.ts';
import { refusal } from '../refusal.ts';
import { actionsOn, dueAction } from './actions.ts';
import { app } from './app.ts';
import { dueAt } from './billing.ts';
import { accountOf, openBooks, SavedBooks, savedBooks } from './books.ts';
import { createKeys, Keys } from './keys.ts';
import { notificationOf } from './notification.ts';
import { latest, type Purchase } from './records.ts';
import { happen, refuseShare, type Shop, shareWith, takeOrder } from './shop.ts';
import type { Source } from './source.ts';
import { answerCall, hostNames, rateLimited, unavailable } from './store-calls.ts';
import { summaryOf } from './summary.ts';
import { validateBody } from './validate-body.ts';

const Saved = v.object({ keys: Keys, books: SavedBooks });

/** The App Store: its server API, verifyReceipt, signed transactions and receipts. */
export const storeA: StoreDefinition = {
  platform: 'store_a',
  aliases: ['apple'],
  hosts: hostNames,
  open: openStoreA,
};

async function openStoreA({ now, saved, tell, outgoing }: StoreContext): Promise<EmulatedStore> {
  const earlier = saved === undefined ? undefined : v.parse(Saved, saved);
  const keys = earlier?.keys ?? (await createKeys());
  const books = openBooks(earlier?.books);
  const shop: Shop = { books, now, tell };
  const source: Source = { books, keys, now, outgoing };
  const find = (purchaseId: string): Purchase => purchaseNamed(shop, purchaseId);
  const own = (): Purchase[] => [...books.purchases.values()].filter(({ sharedFrom }) => sharedFrom === undefined);
  return {
    settings: settingsOf(keys),
    rootCertificate: Buffer.from(keys.signedData.chain[2], 'base64'),
    answer: (call) => answerCall({ ...source, tell }, call),
    troubles: { down: unavailable, 'rate-limited': () => rateLimited(now()) },
    buy: (order) => takeOrder(shop, order),
    actions: { ...purchaseActions(shop), share: (id, details) => shareWith(shop, find(id), details) },
    find: (id) => (books.purchases.has(id) ? summaryOf(books, find(id)) : undefined),
    validateBody: (id, form) => {
      const purchase = find(id);
      return validateBody(
        source,
        { purchase, transaction: latest(purchase), account: accountOf(books, purchase) },
        form,
      );
    },
    notification: (message) => notificationOf(source, message),
    products: () => [...books.products.values()],
    purchases: () => [...books.purchases.values()].map((purchase) => summaryOf(books, purchase)),
    playUntil: (until) =>
      playDue({ items: own, dueAt, play: (due, at) => happen(shop, due, dueAction(due), { at }) }, until),
    save: () => ({ keys, books: savedBooks(books) }),
  };
}

function purchaseActions(shop: Shop): EmulatedStore['actions'] {
  const actions = Object.entries(actionsOn(shop.books)).map(([name, action]) => {
    const act: EmulatedStore['actions'][string] = (id, details) => {
      const purchase = purchaseNamed(shop, id);
      if (name !== 'revoke') refuseShare(purchase);
      happen(shop, purchase, action, { at: shop.now(), details });
      return id;
    };
    return [name, act] as const;
  });
  return Object.fromEntries(actions);
}

function purchaseNamed({ books }: Shop, purchaseId: string): Purchase {
  const purchase = books.purchases.get(purchaseId);
  if (purchase === undefined) throw refusal(404, `There is no purchase ${purchaseId}.`);
  return purchase;
}

const settingsOf = ({ issuerId, keyId, apiPrivateKey, sharedSecret }: Keys): EmulatedStore['settings'] => ({
  bundleId: app.bundleId,
  appAppleId: app.appAppleId,
  issuerId,
  keyId,
  privateKey: apiPrivateKey,
  sharedSecret,
});
