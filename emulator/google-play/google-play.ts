import * as v from 'valibot';
import { createAccountSettings } from '../account-settings.ts';
import type { EmulatedStore, EmulatedStoreContext, StoreDefinition } from '../emulated-store.ts';
import { mapValues } from '../map-values.ts';
import { platformTokens } from '../platform.ts';
import { getPurchase } from '../purchase-checks.ts';
import { getDecisionTime } from '../refund-request.ts';
import { createSchedule } from '../run-due.ts';
import { accountProblems } from './account-problems.ts';
import { acknowledgeByApp } from './acknowledgement.ts';
import { createActions, getNextDueTime, runDueTransition } from './actions.ts';
import { rateLimitedResponse, unavailableResponse } from './api-error.ts';
import { getPurchasedPlan } from './catalogue.ts';
import { createKeys, Keys, packageName, toSettings } from './keys.ts';
import { toOutgoingNotification } from './pubsub-push.ts';
import { toPurchaseSummary } from './purchase-summary.ts';
import type { DeveloperNotification, Transition, TransitionContext } from './purchase-transition.ts';
import { purchaseProduct } from './purchasing.ts';
import type { Purchase } from './records.ts';
import { applyDecision, closeRefundedReviews, type DecideReview, openReview } from './refund-reviews.ts';
import type { ResponseContext } from './response-context.ts';
import { handleCall, hostNames, isQuery } from './store-calls.ts';
import { createState, SavedState, type StoreState, toSavedState } from './store-state.ts';
import { withTaxRate } from './tax.ts';
import { buildValidateBody } from './validate-body.ts';

/** A purchase or a refund review with its next transition. */
interface ScheduledItem {
  readonly at: number | undefined;
  readonly run: (at: number) => void;
}

const SavedStore = v.object({ keys: Keys, state: SavedState, settings: v.exactOptional(v.unknown()) });

/**
 * Google Play: service account tokens, purchases and orders of the Developer API, real-time developer notifications.
 */
export const googlePlay: StoreDefinition = {
  platform: platformTokens.googlePlay,
  aliases: ['google', 'android'],
  hosts: hostNames,
  createKeys,
  open: openGooglePlay,
};

async function openGooglePlay({
  now,
  savedState,
  savedKeys,
  emitNotification,
  deliveries,
}: EmulatedStoreContext): Promise<EmulatedStore> {
  const saved = savedState === undefined ? undefined : v.parse(SavedStore, savedState);
  const keys = saved?.keys ?? v.parse(Keys, savedKeys ?? (await createKeys()));
  const state = createState(saved?.state);
  const accountSettings = createAccountSettings(['listLength', 'payloadUnwrapping'], saved?.settings);
  const { current: settings } = accountSettings;
  const context: ResponseContext = { state, keys, now, settings };
  const saveTransition = createSaveTransition(state, emitNotification);
  const decideReview: DecideReview = (review, at) => {
    const transition = applyDecision(state, review, at);
    if (transition) saveTransition(transition, at);
  };
  const listScheduledItems = (): ScheduledItem[] => [
    ...[...state.purchases.values()].map((due) => ({
      at: getNextDueTime(due),
      run: (at: number) => {
        saveTransition(runDueTransition(due, createTransitionContext(state, due, at)), at);
      },
    })),
    ...[...state.refundRequests.values()].map((review) => ({
      at: getDecisionTime(review),
      run: (at: number) => decideReview(review, at),
    })),
  ];
  return {
    settings: toSettings(keys),
    handleCall: (call) =>
      handleCall({ ...context, decideReview, saveTransition, getNotificationUrl: deliveries.url }, call),
    isQuery,
    toOutgoingNotification: (notification) => toOutgoingNotification(keys, notification, settings().payloadUnwrapping),
    faultResponses: { down: unavailableResponse, 'rate-limited': rateLimitedResponse },
    accountProblems,
    accountSettings,
    placeOrder: (order) => {
      const { purchase, ...transition } = purchaseProduct(state, order, now());
      return saveTransition({ ...transition, purchase: withTaxRate(purchase, order) }, now());
    },
    actions: createPurchaseActions(context, saveTransition, emitNotification),
    refundRequests: () => [...state.refundRequests.values()],
    findPurchase: (id) => (state.purchases.has(id) ? toPurchaseSummary(context, getPurchase(state, id)) : undefined),
    validateBody: (id, form) => buildValidateBody(context, getPurchase(state, id), form),
    setOrdersReadable: (readable) => {
      state.areOrdersReadable = readable;
    },
    products: () => [...state.products.values()],
    purchases: () => [...state.purchases.values()].map((purchase) => toPurchaseSummary(context, purchase)),
    ...createSchedule<ScheduledItem>({
      items: listScheduledItems,
      dueAt: ({ at }) => at,
      run: ({ run }, at) => run(at),
    }),
    toSavedState: () => ({ keys, state: toSavedState(state), settings: settings() }),
  };
}

type SaveTransition = (transition: Transition, at: number) => string;

/** Creates a function that saves a transition, emits its notifications and returns the id of the resulting purchase. */
function createSaveTransition(
  state: StoreState,
  emitNotification: EmulatedStoreContext['emitNotification'],
): SaveTransition {
  const saveTransition: SaveTransition = ({ purchase, notifications, successor, voided }, at) => {
    state.purchases.set(purchase.id, acknowledgeByApp(purchase));
    if (voided !== undefined) state.voided.push(voided);
    // The notification of the new purchase is sent before the notifications of the replaced purchase.
    const resultId =
      successor === undefined
        ? purchase.id
        : saveTransition(
            { ...successor, purchase: withTaxRate(acknowledgeByApp(successor.purchase, purchase), purchase) },
            at,
          );
    for (const notification of notifications)
      emitNotification({ purchaseId: purchase.id, at, native: toNative(notification, at) });
    return resultId;
  };
  return saveTransition;
}

const toNative = (notification: DeveloperNotification, at: number): Readonly<Record<string, unknown>> => ({
  version: '1.0',
  packageName,
  eventTimeMillis: String(at),
  ...notification,
});

const createPurchaseActions = (
  { state, now }: ResponseContext,
  saveTransition: SaveTransition,
  emitNotification: EmulatedStoreContext['emitNotification'],
): EmulatedStore['actions'] =>
  mapValues(createActions(state), (action, name) => (id, details) => {
    const purchase = getPurchase(state, id);
    const { at, ...context } = createTransitionContext(state, purchase, now());
    const resultId = saveTransition(action(purchase, { at, ...context }, details), at);
    if (name === 'request-refund')
      emitNotification({ purchaseId: id, at, native: toNative(openReview(state, purchase, { at, details }), at) });
    closeRefundedReviews(state, getPurchase(state, id), at);
    return resultId;
  });

const createTransitionContext = (state: StoreState, purchase: Purchase, at: number): TransitionContext => ({
  at,
  product: getPurchasedPlan(state, purchase),
});
