import * as v from 'valibot';
import { controlError } from '../control-error.ts';
import type { EmulatedStore, EmulatedStoreContext, PurchaseSummary, StoreDefinition } from '../emulated-store.ts';
import { platformTokens } from '../platform.ts';
import type { ActionBody } from '../purchase-order.ts';
import { createSchedule } from '../run-due.ts';
import { accountProblems } from './account-problems.ts';
import { paymentActions, subscriptionActions } from './actions.ts';
import { handleCall, isQuery } from './api.ts';
import { billSubscription, getNextDueTime } from './billing.ts';
import { gatewayTimeZone } from './gateway-time-zone.ts';
import { createState, formatAmount, type MerchantState, type ResponseContext, toSavedState } from './merchant-state.ts';
import {
  buildValidateBody,
  createPendingOrder,
  findPurchaseOfNonce,
  requirePendingOrder,
  toPurchaseSummary,
} from './pending-orders.ts';
import { type PendingOrder, SavedState } from './records.ts';
import { emptyResponse } from './responses.ts';
import { toOutgoingNotification } from './webhook.ts';

/**
 * Braintree: the gateway API, its webhooks, and nonces of the client SDK.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/overview
 */
export const braintree: StoreDefinition = {
  platform: platformTokens.braintree,
  aliases: ['braintree'],
  hosts: ['api.braintreegateway.com', 'api.sandbox.braintreegateway.com'],
  open: openBraintree,
};

async function openBraintree({ now, savedState, emitNotification }: EmulatedStoreContext): Promise<EmulatedStore> {
  const state = createState(savedState === undefined ? undefined : v.parse(SavedState, savedState));
  const context: ResponseContext = { state, now, emitNotification };
  const settings = toSettings(state);
  const listPurchases = (): PurchaseSummary[] =>
    [...state.pendingOrders.values()].map((order) => toPurchaseSummary(context, order));
  const findPurchase = (id: string): PurchaseSummary | undefined =>
    listPurchases().find((purchase) => purchase.id === id || purchase.purchaseId === id);
  return {
    settings,
    handleCall: (call) => handleCall(context, call),
    isQuery,
    faultResponses: { down: () => emptyResponse(503), 'rate-limited': () => emptyResponse(429) },
    accountProblems,
    accountSettings: state.settings,
    placeOrder: (order) => {
      const nonce = createPendingOrder(state, order);
      // Callers keep a reference to the settings, so a new product is added in place.
      Object.assign(settings.catalogue as object, toCatalogue(state));
      return nonce;
    },
    actions: createActions(context, (id) => requirePendingOrder(state, String(findPurchase(id)?.id))),
    findPurchase,
    toOutgoingNotification: (message) => toOutgoingNotification(state, message),
    validateBody: (id, form) => buildValidateBody(requirePendingOrder(state, String(findPurchase(id)?.id)), form),
    products: () => [...state.products.values()],
    purchases: listPurchases,
    ...createSchedule({
      items: () => state.subscriptions.values(),
      dueAt: getNextDueTime,
      run: (due, at) => billSubscription(context, due, at),
    }),
    toSavedState: () => toSavedState(state),
  };
}

function createActions(context: ResponseContext, getOrder: (id: string) => PendingOrder): EmulatedStore['actions'] {
  const names = Object.keys(subscriptionActions);
  return Object.fromEntries(
    names.map((name) => [
      name,
      (id: string, details: ActionBody): string => {
        const order = getOrder(id);
        const { payment, subscription } = findPurchaseOfNonce(context.state, order);
        if (!payment && !subscription) throw controlError(422, 'The nonce must be validated first.');
        if (subscription) subscriptionActions[name]?.(context, subscription, details);
        else if (payment) {
          const action = paymentActions[name];
          if (action === undefined) throw controlError(422, `A one-time payment does not support ${name}.`);
          action(context, payment, details);
        }
        return order.nonce;
      },
    ]),
  );
}

const toSettings = (state: MerchantState): EmulatedStore['settings'] => ({
  merchantId: state.merchantId,
  publicKey: state.publicKey,
  privateKey: state.privateKey,
  environment: 'sandbox',
  timeZone: gatewayTimeZone,
  catalogue: toCatalogue(state),
});

const toCatalogue = ({ products }: MerchantState): Readonly<Record<string, object>> =>
  Object.fromEntries(
    [...products.values()].map((product) => [
      product.productId,
      {
        type: product.type,
        ...(product.amountMicros === undefined
          ? { amount: formatAmount(product) }
          : { amount: 'any', minimum: '1.00', maximum: '500.00' }),
        currency: product.currency ?? 'USD',
        ...(product.period !== undefined && { planId: product.productId }),
      },
    ]),
  );
