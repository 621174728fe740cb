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
  type OperationContext,
  placeOrder,
  requireOwnPurchase,
  shareWithMember,
} from './store-operations.ts';
import { createState, getAccount, SavedState, toSavedState } from './store-state.ts';
import { buildValidateBody } from './validate-body.ts';

const SavedStore = v.object({ keys: Keys, state: SavedState });

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
  deliveries: outgoing,
}: EmulatedStoreContext): Promise<EmulatedStore> {
  const earlier = savedState === undefined ? undefined : v.parse(SavedStore, savedState);
  const keys = earlier?.keys ?? (await createKeys());
  const state = createState(earlier?.state);
  const operation: OperationContext = { state, now, emitNotification };
  const context: ResponseContext = { state, keys, now, deliveries: outgoing };
  const find = (purchaseId: string): Purchase => getPurchase(operation, purchaseId);
  const own = (): Purchase[] => [...state.purchases.values()].filter(({ sharedFrom }) => sharedFrom === undefined);
  return {
    settings: toSettings(keys),
    rootCertificate: Buffer.from(keys.signedData.chain[2], 'base64'),
    handleCall: (call) => handleCall({ ...context, emitNotification }, call),
    faultResponses: { down: unavailableResponse, 'rate-limited': () => rateLimitedResponse(now()) },
    placeOrder: (order) => placeOrder(operation, order),
    actions: { ...purchaseActions(operation), share: (id, details) => shareWithMember(operation, find(id), details) },
    findPurchase: (id) => (state.purchases.has(id) ? toPurchaseSummary(state, find(id)) : undefined),
    validateBody: (id, form) => {
      const purchase = find(id);
      return buildValidateBody(
        context,
        { purchase, transaction: getLatestTransaction(purchase), account: getAccount(state, purchase) },
        form,
      );
    },
    toOutgoingNotification: (message) => toOutgoingNotification(context, message),
    products: () => [...state.products.values()],
    purchases: () => [...state.purchases.values()].map((purchase) => toPurchaseSummary(state, purchase)),
    advanceTo: (until) =>
      runDue(
        {
          items: own,
          dueAt: getNextDueTime,
          run: (due, at) => applyActionToPurchase(operation, due, getDueAction(due), { at }),
        },
        until,
      ),
    toSavedState: () => ({ keys, state: toSavedState(state) }),
  };
}

function purchaseActions(operation: OperationContext): EmulatedStore['actions'] {
  const actions = Object.entries(createActions(operation.state)).map(([name, action]) => {
    const act: EmulatedStore['actions'][string] = (id, details) => {
      const purchase = getPurchase(operation, id);
      if (name !== 'revoke') requireOwnPurchase(purchase);
      applyActionToPurchase(operation, purchase, action, { at: operation.now(), details });
      return id;
    };
    return [name, act] as const;
  });
  return Object.fromEntries(actions);
}

function getPurchase({ state }: OperationContext, purchaseId: string): Purchase {
  const purchase = state.purchases.get(purchaseId);
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
