import * as v from 'valibot';
import { controlError } from '../control-error.ts';
import type { EmulatedStore, EmulatedStoreContext, StoreDefinition } from '../emulated-store.ts';
import { runDue } from '../run-due.ts';
import { createActions, getDueAction } from './actions.ts';
import { app } from './app.ts';
import { getNextDueTime } from './billing.ts';
import { createKeys, Keys } from './keys.ts';
import { toOutgoingNotification } from './notification.ts';
import { toPurchaseSummary } from './purchase-summary.ts';
import { getLatestTransaction, type Purchase } from './records.ts';
import type { ResponseContext } from './response-context.ts';
import { handleCall, hostNames, rateLimitedResponse, unavailableResponse } from './store-calls.ts';
import {
  applyActionToPurchase,
  placeOrder,
  requireOwnPurchase,
  type StoreOperations,
  shareWithMember,
} from './store-operations.ts';
import { createState, getAccount, SavedState, toSavedState } from './store-state.ts';
import { buildValidateBody } from './validate-body.ts';

const SavedStore = v.object({ keys: Keys, books: SavedState });

/** The App Store: its server API, verifyReceipt, signed transactions and receipts. */
export const storeA: StoreDefinition = {
  platform: 'store_a',
  aliases: ['apple'],
  hosts: hostNames,
  open: openStoreA,
};

async function openStoreA({
  now,
  savedState,
  emitNotification,
  outgoing,
}: EmulatedStoreContext): Promise<EmulatedStore> {
  const earlier = savedState === undefined ? undefined : v.parse(SavedStore, savedState);
  const keys = earlier?.keys ?? (await createKeys());
  const books = createState(earlier?.books);
  const shop: StoreOperations = { books, now, tell: emitNotification };
  const context: ResponseContext = { books, keys, now, outgoing };
  const find = (purchaseId: string): Purchase => getPurchase(shop, purchaseId);
  const own = (): Purchase[] => [...books.purchases.values()].filter(({ sharedFrom }) => sharedFrom === undefined);
  return {
    settings: toSettings(keys),
    rootCertificate: Buffer.from(keys.signedData.chain[2], 'base64'),
    handleCall: (call) => handleCall({ ...context, tell: emitNotification }, call),
    faultResponses: { down: unavailableResponse, 'rate-limited': () => rateLimitedResponse(now()) },
    placeOrder: (order) => placeOrder(shop, order),
    actions: { ...purchaseActions(shop), share: (id, details) => shareWithMember(shop, find(id), details) },
    findPurchase: (id) => (books.purchases.has(id) ? toPurchaseSummary(books, find(id)) : undefined),
    validateBody: (id, form) => {
      const purchase = find(id);
      return buildValidateBody(
        context,
        { purchase, transaction: getLatestTransaction(purchase), account: getAccount(books, purchase) },
        form,
      );
    },
    toOutgoingNotification: (message) => toOutgoingNotification(context, message),
    products: () => [...books.products.values()],
    purchases: () => [...books.purchases.values()].map((purchase) => toPurchaseSummary(books, purchase)),
    advanceTo: (until) =>
      runDue(
        {
          items: own,
          dueAt: getNextDueTime,
          play: (due, at) => applyActionToPurchase(shop, due, getDueAction(due), { at }),
        },
        until,
      ),
    toSavedState: () => ({ keys, books: toSavedState(books) }),
  };
}

function purchaseActions(shop: StoreOperations): EmulatedStore['actions'] {
  const actions = Object.entries(createActions(shop.books)).map(([name, action]) => {
    const act: EmulatedStore['actions'][string] = (id, details) => {
      const purchase = getPurchase(shop, id);
      if (name !== 'revoke') requireOwnPurchase(purchase);
      applyActionToPurchase(shop, purchase, action, { at: shop.now(), details });
      return id;
    };
    return [name, act] as const;
  });
  return Object.fromEntries(actions);
}

function getPurchase({ books }: StoreOperations, purchaseId: string): Purchase {
  const purchase = books.purchases.get(purchaseId);
  if (purchase === undefined) throw controlError(404, `There is no purchase ${purchaseId}.`);
  return purchase;
}

const toSettings = ({ issuerId, keyId, apiPrivateKey, sharedSecret }: Keys): EmulatedStore['settings'] => ({
  bundleId: app.bundleId,
  appAppleId: app.appAppleId,
  issuerId,
  keyId,
  privateKey: apiPrivateKey,
  sharedSecret,
});
