import * as v from 'valibot';
import { createAccountSettings } from '../account-settings.ts';
import type { EmulatedStore, EmulatedStoreContext, StoreDefinition } from '../emulated-store.ts';
import { mapValues } from '../map-values.ts';
import { platformTokens } from '../platform.ts';
import { getProduct } from '../product.ts';
import { getPurchase } from '../purchase-checks.ts';
import { createSchedule } from '../run-due.ts';
import { accountProblems } from './account-problems.ts';
import { actions } from './actions.ts';
import { createKeys, Keys } from './keys.ts';
import { toPurchaseSummary } from './purchase-summary.ts';
import { purchaseProduct, sandboxId } from './purchasing.ts';
import type { Purchase } from './records.ts';
import { getNextDueTime, runDueTransition } from './recurrence-transitions.ts';
import type { ResponseContext } from './response-context.ts';
import { handleCall, hostNames, isQuery, rateLimitedResponse, unavailableResponse } from './store-calls.ts';
import { revokeKeys } from './store-id-keys.ts';
import { createState, getAccount, SavedState, toSavedState } from './store-state.ts';
import { buildValidateBody } from './validate-body.ts';

const SavedStore = v.object({ keys: Keys, state: SavedState, settings: v.exactOptional(v.unknown()) });

/**
 * Microsoft Store: Entra tokens, StoreID keys, collections, recurrences, clawback query and queue. It does not post
 * notifications.
 */
export const microsoftStore: StoreDefinition = {
  platform: platformTokens.microsoftStore,
  aliases: ['windows'],
  hosts: hostNames,
  createKeys,
  open: openMicrosoftStore,
};

async function openMicrosoftStore({ now, savedState, savedKeys }: EmulatedStoreContext): Promise<EmulatedStore> {
  const saved = savedState === undefined ? undefined : v.parse(SavedStore, savedState);
  const keys = saved?.keys ?? v.parse(Keys, savedKeys ?? (await createKeys()));
  const state = createState(saved?.state);
  const accountSettings = createAccountSettings(['listLength'], saved?.settings);
  const { current: settings } = accountSettings;
  const context: ResponseContext = { state, keys, now, settings };
  const savePurchase = (purchase: Purchase): string => {
    state.purchases.set(purchase.id, purchase);
    return purchase.id;
  };
  return {
    settings: toSettings(keys),
    handleCall: (call) => handleCall(context, call),
    isQuery,
    faultResponses: { down: unavailableResponse, 'rate-limited': rateLimitedResponse },
    accountProblems,
    accountSettings,
    placeOrder: (order) => savePurchase(purchaseProduct(state, order, now())),
    actions: {
      ...mapValues(actions, (action) => (id, details) => {
        const purchase = getPurchase(state, id);
        return savePurchase(action(purchase, { at: now(), product: getProduct(state, purchase.productId), details }));
      }),
      'revoke-keys': (id) => {
        revokeKeys(state, getAccount(state, getPurchase(state, id)));
        return id;
      },
    },
    findPurchase: (id) =>
      state.purchases.has(id) ? toPurchaseSummary(state, getPurchase(state, id), now()) : undefined,
    validateBody: (id, form) => buildValidateBody(context, getPurchase(state, id), form),
    products: () => [...state.products.values()],
    purchases: () => [...state.purchases.values()].map((purchase) => toPurchaseSummary(state, purchase, now())),
    ...createSchedule<Purchase>({
      items: () => state.purchases.values(),
      dueAt: getNextDueTime,
      run: (due, at) => savePurchase(runDueTransition(due, at, getProduct(state, due.productId))),
    }),
    toSavedState: () => ({ keys, state: toSavedState(state), settings: settings() }),
  };
}

const toSettings = ({ tenantId, clientId, clientSecret }: Keys): EmulatedStore['settings'] => ({
  tenantId,
  clientId,
  clientSecret,
  sandboxId,
});
