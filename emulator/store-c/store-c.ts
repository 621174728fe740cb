import * as v from 'valibot';
import { controlError } from '../control-error.ts';
import type { EmulatedStore, EmulatedStoreContext, StoreDefinition } from '../emulated-store.ts';
import { runDue as playAllDue } from '../run-due.ts';
import { actions } from './actions.ts';
import { createKeys, Keys } from './keys.ts';
import { toPurchaseSummary } from './purchase-summary.ts';
import { purchaseProduct, sandboxId } from './purchasing.ts';
import type { Purchase } from './records.ts';
import { getNextDueTime, runDueTransition } from './recurrence-transitions.ts';
import type { ResponseContext } from './response-context.ts';
import { handleCall, hostNames, rateLimitedResponse, unavailableResponse } from './store-calls.ts';
import { createState, getProduct, SavedState, toSavedState } from './store-state.ts';
import { buildValidateBody } from './validate-body.ts';

const SavedStore = v.object({ keys: Keys, state: SavedState });

/** The Microsoft Store: Entra tokens, StoreID keys, collections, recurrences and clawback, by query and by queue. It posts nothing. */
export const storeC: StoreDefinition = {
  platform: 'store_c',
  aliases: ['windows'],
  hosts: hostNames,
  open: openStoreC,
};

async function openStoreC({ now, savedState }: EmulatedStoreContext): Promise<EmulatedStore> {
  const earlier = savedState === undefined ? undefined : v.parse(SavedStore, savedState);
  const keys = earlier?.keys ?? (await createKeys());
  const state = createState(earlier?.state);
  const context: ResponseContext = { state, keys, now };
  const enter = (purchase: Purchase): string => {
    state.purchases.set(purchase.id, purchase);
    return purchase.id;
  };
  return {
    settings: toSettings(keys),
    handleCall: (call) => handleCall(context, call),
    faultResponses: { down: unavailableResponse, 'rate-limited': rateLimitedResponse },
    placeOrder: (order) => enter(purchaseProduct(state, order, now())),
    actions: purchaseActions(context, enter),
    findPurchase: (id) =>
      state.purchases.has(id) ? toPurchaseSummary(state, getPurchase(context, id), now()) : undefined,
    validateBody: (id, form) => buildValidateBody(context, getPurchase(context, id), form),
    products: () => [...state.products.values()],
    purchases: () => [...state.purchases.values()].map((purchase) => toPurchaseSummary(state, purchase, now())),
    advanceTo: (until) => {
      const play = (due: Purchase, at: number): unknown => enter(runDueTransition(due, at, getProduct(state, due)));
      return playAllDue({ items: () => state.purchases.values(), dueAt: getNextDueTime, run: play }, until);
    },
    toSavedState: () => ({ keys, state: toSavedState(state) }),
  };
}

function purchaseActions(context: ResponseContext, enter: (purchase: Purchase) => string): EmulatedStore['actions'] {
  const { state, now } = context;
  const acts = Object.entries(actions).map(([name, action]) => {
    const act: EmulatedStore['actions'][string] = (id, details) => {
      const purchase = getPurchase(context, id);
      return enter(action(purchase, { at: now(), product: getProduct(state, purchase), details }));
    };
    return [name, act] as const;
  });
  return Object.fromEntries(acts);
}

function getPurchase({ state }: ResponseContext, purchaseId: string): Purchase {
  const purchase = state.purchases.get(purchaseId);
  if (purchase === undefined) throw controlError(404, `There is no purchase ${purchaseId}.`);
  return purchase;
}

const toSettings = ({ tenantId, clientId, clientSecret }: Keys): EmulatedStore['settings'] => ({
  tenantId,
  clientId,
  clientSecret,
  sandboxId,
});
