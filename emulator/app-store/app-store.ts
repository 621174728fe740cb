import * as v from 'valibot';
import { createAccountSettings } from '../account-settings.ts';
import type { EmulatedStore, EmulatedStoreContext, StoreDefinition } from '../emulated-store.ts';
import { mapValues } from '../map-values.ts';
import { platformTokens } from '../platform.ts';
import { getPurchase } from '../purchase-checks.ts';
import { getDecisionTime } from '../refund-request.ts';
import { createSchedule } from '../run-due.ts';
import { accountProblems } from './account-problems.ts';
import { createActions, getDueAction } from './actions.ts';
import { app } from './app.ts';
import { getNextDueTime } from './billing.ts';
import { createKeys, Keys } from './keys.ts';
import { extendAll } from './mass-extension.ts';
import { toOutgoingNotification } from './notification.ts';
import { toPurchaseSummary } from './purchase-summary.ts';
import { getLatestTransaction } from './records.ts';
import { closeDecidedRequests, closeDeclinedRequests, decideRequest, openRequest } from './refund-requests.ts';
import type { ResponseContext } from './response-context.ts';
import { toDeviceTransaction } from './restoring.ts';
import { createOfferVerifier } from './signed-offers.ts';
import { handleCall, hostNames, isQuery, rateLimitedResponse, unavailableResponse } from './store-calls.ts';
import {
  applyActionToPurchase,
  assignSeatTo,
  type OperationContext,
  placeOrder,
  removeSeat,
  requireOwnPurchase,
  shareWithMember,
} from './store-operations.ts';
import { createState, getAccount, SavedState, toSavedState } from './store-state.ts';
import { buildValidateBody } from './validate-body.ts';

/** A purchase or a refund request with its next transition. */
interface ScheduledItem {
  readonly at: number | undefined;
  readonly run: (at: number) => void;
}

const SavedStore = v.object({ keys: Keys, state: SavedState, settings: v.exactOptional(v.unknown()) });

/** Apple App Store: App Store Server API, verifyReceipt, signed transactions and receipts, server notifications. */
export const appStore: StoreDefinition = {
  platform: platformTokens.appStore,
  aliases: ['apple'],
  hosts: hostNames,
  createKeys,
  open: openAppStore,
};

async function openAppStore({
  now,
  savedState,
  savedKeys,
  emitNotification,
  deliveries,
}: EmulatedStoreContext): Promise<EmulatedStore> {
  const saved = savedState === undefined ? undefined : v.parse(SavedStore, savedState);
  const keys = saved?.keys ?? v.parse(Keys, savedKeys ?? (await createKeys()));
  const state = createState(saved?.state);
  const operations: OperationContext = { state, now, emitNotification };
  const accountSettings = createAccountSettings(['listLength'], saved?.settings);
  const { current: settings } = accountSettings;
  const context: ResponseContext = { state, keys, now, settings, deliveries };
  const offers = createOfferVerifier(keys);
  const listScheduledItems = (): ScheduledItem[] => [
    ...[...state.purchases.values()]
      .filter(({ sharedFrom }) => sharedFrom === undefined)
      .map((due) => ({
        at: getNextDueTime(due),
        run: (at: number) => applyActionToPurchase(operations, due, getDueAction(due), { at }),
      })),
    ...[...state.refundRequests.values()].map((request) => ({
      at: getDecisionTime(request),
      run: (at: number) => decideRequest(operations, request, at),
    })),
  ];
  return {
    settings: toSettings(keys),
    rootCertificate: Buffer.from(keys.signedData.chain[2], 'base64'),
    handleCall: (call) => handleCall({ ...context, emitNotification }, call),
    isQuery,
    faultResponses: { down: unavailableResponse, 'rate-limited': () => rateLimitedResponse(now()) },
    accountProblems,
    accountSettings,
    placeOrder: (order) => {
      offers.verify(order, now());
      return placeOrder(operations, order);
    },
    actions: {
      ...createPurchaseActions(operations),
      'assign-seat': (id, details) => assignSeatTo(operations, getPurchase(state, id), details),
      'remove-seat': (id, details) => removeSeat(operations, getPurchase(state, id), details),
      'extend-all': (id, details) => {
        const purchase = getPurchase(state, id);
        requireOwnPurchase(purchase);
        return extendAll(operations, purchase, details);
      },
      share: (id, details) => shareWithMember(operations, getPurchase(state, id), details),
    },
    findPurchase: (id) => (state.purchases.has(id) ? toPurchaseSummary(state, getPurchase(state, id)) : undefined),
    validateBody: (id, form) => {
      const purchase = getPurchase(state, id);
      return buildValidateBody(
        context,
        {
          purchase,
          transaction: toDeviceTransaction(getLatestTransaction(purchase)),
          account: getAccount(state, purchase),
        },
        form,
      );
    },
    toOutgoingNotification: (notification) => toOutgoingNotification(context, notification),
    products: () => [...state.products.values()],
    purchases: () => [...state.purchases.values()].map((purchase) => toPurchaseSummary(state, purchase)),
    refundRequests: () => [...state.refundRequests.values()],
    ...createSchedule<ScheduledItem>({
      items: listScheduledItems,
      dueAt: ({ at }) => at,
      run: ({ run }, at) => run(at),
    }),
    toSavedState: () => ({ keys, state: toSavedState(state), settings: settings() }),
  };
}

const createPurchaseActions = (operations: OperationContext): EmulatedStore['actions'] =>
  mapValues(createActions(operations.state), (action, name) => (id, details) => {
    const purchase = getPurchase(operations.state, id);
    if (name !== 'revoke') requireOwnPurchase(purchase);
    const { state, now } = operations;
    const at = now();
    applyActionToPurchase(operations, purchase, action, { at, details });
    if (name === 'request-refund')
      openRequest(state, purchase, { at, reason: details.reason, transactionId: details.transactionId });
    if (name === 'decline-refund') closeDeclinedRequests(state, purchase, at);
    closeDecidedRequests(state, getPurchase(state, id), at);
    return id;
  });

const toSettings = ({ issuerId, keyId, apiPrivateKey, sharedSecret }: Keys): EmulatedStore['settings'] => ({
  bundleId: app.bundleId,
  appAppleId: app.appAppleId,
  issuerId,
  keyId,
  privateKey: apiPrivateKey,
  sharedSecret,
});
