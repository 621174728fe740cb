import * as v from 'valibot';
import { controlError } from '../control-error.ts';
import type { EmulatedStore, EmulatedStoreContext, StoreDefinition } from '../emulated-store.ts';
import { runDue as playAllDue } from '../run-due.ts';
import { createActions, getNextDueTime, runDueTransition } from './actions.ts';
import { rateLimitedResponse, unavailableResponse } from './api-error.ts';
import { createKeys, Keys, packageName, toSettings } from './keys.ts';
import { toOutgoingNotification } from './pubsub-push.ts';
import { toPurchaseSummary } from './purchase-summary.ts';
import type { DeveloperNotification, Transition, TransitionContext } from './purchase-transition.ts';
import { purchaseProduct } from './purchasing.ts';
import type { Purchase } from './records.ts';
import type { ResponseContext } from './response-context.ts';
import { handleCall, hostNames } from './store-calls.ts';
import { createState, getProduct, SavedState, toSavedState } from './store-state.ts';
import { buildValidateBody } from './validate-body.ts';

const SavedStore = v.object({ keys: Keys, books: SavedState });

/** Google Play: service-account tokens, purchases and orders of the Developer API, real-time developer notifications. */
export const storeB: StoreDefinition = {
  platform: 'store_b',
  aliases: ['google', 'android'],
  hosts: hostNames,
  open: openStoreB,
};

async function openStoreB({ now, savedState, emitNotification }: EmulatedStoreContext): Promise<EmulatedStore> {
  const earlier = savedState === undefined ? undefined : v.parse(SavedStore, savedState);
  const keys = earlier?.keys ?? (await createKeys());
  const books = createState(earlier?.books);
  const context: ResponseContext = { books, keys, now };
  const enter = createSaveTransition(context, emitNotification);
  return {
    settings: toSettings(keys),
    handleCall: (call) => handleCall(context, call),
    toOutgoingNotification: (message) => toOutgoingNotification(keys, message),
    faultResponses: { down: unavailableResponse, 'rate-limited': rateLimitedResponse },
    placeOrder: (order) => enter(purchaseProduct(books, order, now()), now()),
    actions: purchaseActions(context, enter),
    findPurchase: (id) => (books.purchases.has(id) ? toPurchaseSummary(books, getPurchase(context, id)) : undefined),
    validateBody: (id, form) => buildValidateBody(context, getPurchase(context, id), form),
    products: () => [...books.products.values()],
    purchases: () => [...books.purchases.values()].map((purchase) => toPurchaseSummary(books, purchase)),
    advanceTo: (until) => {
      const play = (due: Purchase, at: number): unknown =>
        enter(runDueTransition(due, createTransitionContext(context, due, at)), at);
      return playAllDue({ items: () => books.purchases.values(), dueAt: getNextDueTime, play }, until);
    },
    toSavedState: () => ({ keys, books: toSavedState(books) }),
  };
}

type SaveTransition = (change: Transition, at: number) => string;

/** Writes a change into the books, tells of it, and gives the id of the purchase to show. */
function createSaveTransition(
  { books }: ResponseContext,
  tell: EmulatedStoreContext['emitNotification'],
): SaveTransition {
  const enter: SaveTransition = ({ purchase, notices, successor, voided }, at) => {
    books.purchases.set(purchase.id, purchase);
    if (voided !== undefined) books.voided.push(voided);
    // The new purchase is told of first.
    const shown = successor === undefined ? purchase.id : enter(successor, at);
    for (const notice of notices) tell({ purchaseId: purchase.id, at, native: native(notice, at) });
    return shown;
  };
  return enter;
}

const native = (notice: DeveloperNotification, at: number): Readonly<Record<string, unknown>> => ({
  version: '1.0',
  packageName,
  eventTimeMillis: String(at),
  ...notice,
});

function purchaseActions(context: ResponseContext, enter: SaveTransition): EmulatedStore['actions'] {
  const acts = Object.entries(createActions(context.books)).map(([name, action]) => {
    const act: EmulatedStore['actions'][string] = (id, details) => {
      const purchase = getPurchase(context, id);
      const moment = createTransitionContext(context, purchase, context.now());
      return enter(action(purchase, moment, details), moment.at);
    };
    return [name, act] as const;
  });
  return Object.fromEntries(acts);
}

const createTransitionContext = (
  { books }: ResponseContext,
  { productId }: Purchase,
  at: number,
): TransitionContext => ({
  at,
  product: getProduct(books, productId),
});

function getPurchase({ books }: ResponseContext, purchaseId: string): Purchase {
  const purchase = books.purchases.get(purchaseId);
  if (purchase === undefined) throw controlError(404, `There is no purchase ${purchaseId}.`);
  return purchase;
}
