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

const SavedStore = v.object({ keys: Keys, state: SavedState });

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
  const state = createState(earlier?.state);
  const context: ResponseContext = { state, keys, now };
  const enter = createSaveTransition(context, emitNotification);
  return {
    settings: toSettings(keys),
    handleCall: (call) => handleCall(context, call),
    toOutgoingNotification: (message) => toOutgoingNotification(keys, message),
    faultResponses: { down: unavailableResponse, 'rate-limited': rateLimitedResponse },
    placeOrder: (order) => enter(purchaseProduct(state, order, now()), now()),
    actions: purchaseActions(context, enter),
    findPurchase: (id) => (state.purchases.has(id) ? toPurchaseSummary(state, getPurchase(context, id)) : undefined),
    validateBody: (id, form) => buildValidateBody(context, getPurchase(context, id), form),
    products: () => [...state.products.values()],
    purchases: () => [...state.purchases.values()].map((purchase) => toPurchaseSummary(state, purchase)),
    advanceTo: (until) => {
      const play = (due: Purchase, at: number): unknown =>
        enter(runDueTransition(due, createTransitionContext(context, due, at)), at);
      return playAllDue({ items: () => state.purchases.values(), dueAt: getNextDueTime, run: play }, until);
    },
    toSavedState: () => ({ keys, state: toSavedState(state) }),
  };
}

type SaveTransition = (change: Transition, at: number) => string;

/** Writes a change into the state, tells of it, and gives the id of the purchase to show. */
function createSaveTransition(
  { state }: ResponseContext,
  emitNotification: EmulatedStoreContext['emitNotification'],
): SaveTransition {
  const enter: SaveTransition = ({ purchase, notifications, successor, voided }, at) => {
    state.purchases.set(purchase.id, purchase);
    if (voided !== undefined) state.voided.push(voided);
    // The new purchase is told of first.
    const shown = successor === undefined ? purchase.id : enter(successor, at);
    for (const notice of notifications) emitNotification({ purchaseId: purchase.id, at, native: native(notice, at) });
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
  const acts = Object.entries(createActions(context.state)).map(([name, action]) => {
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
  { state }: ResponseContext,
  { productId }: Purchase,
  at: number,
): TransitionContext => ({
  at,
  product: getProduct(state, productId),
});

function getPurchase({ state }: ResponseContext, purchaseId: string): Purchase {
  const purchase = state.purchases.get(purchaseId);
  if (purchase === undefined) throw controlError(404, `There is no purchase ${purchaseId}.`);
  return purchase;
}
