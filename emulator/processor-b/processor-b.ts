import * as v from 'valibot';
import { controlError } from '../control-error.ts';
import type { EmulatedStore, EmulatedStoreContext, PurchaseSummary, StoreDefinition } from '../emulated-store.ts';
import { runDue } from '../run-due.ts';
import { paymentActions, subscriptionActions } from './actions.ts';
import { handleCall } from './api.ts';
import { billSubscription, getNextDueTime } from './billing.ts';
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

/** Braintree: the gateway's API, its webhook kinds, and nonces as a client's form makes them. */
export const processorB: StoreDefinition = {
  platform: 'processor_b',
  aliases: ['braintree'],
  hosts: ['api.braintreegateway.com', 'api.sandbox.braintreegateway.com'],
  open: openProcessorB,
};

async function openProcessorB({ now, savedState, emitNotification }: EmulatedStoreContext): Promise<EmulatedStore> {
  const books = createState(savedState === undefined ? undefined : v.parse(SavedState, savedState));
  const context: ResponseContext = {
    books,
    now,
    tell: emitNotification,
  };
  const settings = toSettings(books);
  const wishes = (): PurchaseSummary[] =>
    [...books.pendingOrders.values()].map((wish) => toPurchaseSummary(context, wish));
  const findPurchase = (id: string): PurchaseSummary | undefined =>
    wishes().find((one) => one.id === id || one.purchaseId === id);
  return {
    settings,
    handleCall: (call) => handleCall(context, call),
    faultResponses: { down: () => emptyResponse(503), 'rate-limited': () => emptyResponse(429) },
    placeOrder: (order) => {
      const nonce = createPendingOrder(books, order);
      // Whoever holds the settings sees what is new for sale.
      Object.assign(settings.catalogue as object, toCatalogue(books));
      return nonce;
    },
    actions: actionsOn(context, (id) => requirePendingOrder(books, String(findPurchase(id)?.id))),
    findPurchase,
    toOutgoingNotification: (message) => toOutgoingNotification(books, message),
    validateBody: (id, form) => buildValidateBody(requirePendingOrder(books, String(findPurchase(id)?.id)), form),
    products: () => [...books.products.values()],
    purchases: wishes,
    advanceTo: (until) =>
      runDue(
        {
          items: () => books.subscriptions.values(),
          dueAt: getNextDueTime,
          run: (due, at) => billSubscription(context, due, at),
        },
        until,
      ),
    toSavedState: () => toSavedState(books),
  };
}

function actionsOn(context: ResponseContext, wishOf: (id: string) => PendingOrder): EmulatedStore['actions'] {
  const names = Object.keys(subscriptionActions);
  return Object.fromEntries(
    names.map((name) => [
      name,
      (id: string): string => {
        const asked = wishOf(id);
        const { payment, subscription } = findPurchaseOfNonce(context.books, asked);
        if (!payment && !subscription) throw controlError(422, 'Nothing is bought until the nonce is validated.');
        if (subscription) subscriptionActions[name]?.(context, subscription);
        else if (payment) {
          const act = paymentActions[name];
          if (act === undefined) throw controlError(422, `A single payment does not know ${name}.`);
          act(context, payment);
        }
        return asked.nonce;
      },
    ]),
  );
}

const toSettings = (books: MerchantState): EmulatedStore['settings'] => ({
  merchantId: books.merchantId,
  publicKey: books.publicKey,
  privateKey: books.privateKey,
  environment: 'sandbox',
  catalogue: toCatalogue(books),
});

const toCatalogue = ({ products }: MerchantState): Readonly<Record<string, object>> =>
  Object.fromEntries(
    [...products.values()].map((product) => [
      product.productId,
      {
        type: product.type,
        amount: formatAmount(product),
        currency: product.currency ?? 'USD',
        ...(product.period !== undefined && { planId: product.productId }),
      },
    ]),
  );
