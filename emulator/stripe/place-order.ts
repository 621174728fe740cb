import type Stripe from 'stripe';
import { countDays } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { type AccountObjects, getId, saveObject } from './account-objects.ts';
import type { AccountState } from './account-state.ts';
import { getPeriod } from './catalogue.ts';
import { customerEmail, defaultCountry, payCheckout } from './checkout.ts';
import { getOrCreatePrice, type PriceRequest } from './get-or-create-price.ts';
import { buildCustomer, buildLineItem, buildSession } from './session-objects.ts';
import { startSubscription } from './start-subscription.ts';
import { getOrCreateTaxRate } from './tax-rates.ts';

/** Parts of an order that a checkout session and a subscription share. */
interface PreparedOrder {
  readonly at: number;
  readonly livemode: boolean;
  readonly lines: readonly { readonly price: Stripe.Price; readonly quantity: number }[];
  readonly trialDays: number;
  readonly metadata: Stripe.Metadata;
  readonly customer: string | null;
  readonly country: string;
  readonly taxRate: Stripe.TaxRate | undefined;
}

/**
 * Places an order through a checkout session that is paid immediately, or later if it is pending. An emailed or
 * backdated subscription does not have a session: the developer creates it. Returns the id of the purchase.
 */
export function placeOrder(state: AccountState, order: PurchaseOrder): string {
  const isCreatedDirectly = order.collection !== undefined || order.backdate !== undefined;
  if (isCreatedDirectly && order.type !== 'paid subscription')
    throw controlError(422, 'collection and backdate: only a subscription has them.');
  if (isCreatedDirectly && order.pending === true) throw controlError(422, 'pending: not with collection or backdate.');
  if (order.capture !== undefined && (order.type === 'paid subscription' || order.invoiceCreation === true))
    throw controlError(422, 'capture: not with a subscription or invoiceCreation.');
  const prepared = prepareOrder(state, order);
  return isCreatedDirectly ? createSubscription(state, order, prepared) : buyInSession(state, order, prepared);
}

function prepareOrder(state: AccountState, order: PurchaseOrder): PreparedOrder {
  const at = state.now();
  if (order.intro !== undefined) throw controlError(422, 'intro is not supported by Stripe. Use trial.');
  const livemode = order.sandbox !== true;
  const prices = toPriceRequests(order).map((request) => getOrCreatePrice(state, request, { at, livemode }));
  if (new Set(prices).size < prices.length) throw controlError(422, 'items: two of them have the same price.');
  const { applicationUsername, taxRate: percentage, country = defaultCountry } = order;
  return {
    at,
    livemode,
    lines: prices.map((price, index) => ({ price, quantity: index === 0 ? (order.quantity ?? 1) : 1 })),
    trialDays: prices[0] ? countTrialDays(order, prices[0]) : 0,
    metadata: applicationUsername === undefined ? {} : { applicationUsername },
    customer: findCustomer(state.records, applicationUsername, livemode),
    country,
    taxRate: percentage === undefined ? undefined : getOrCreateTaxRate(state, { percentage, livemode, country }),
  };
}

function buyInSession(state: AccountState, order: PurchaseOrder, prepared: PreparedOrder): string {
  const { records } = state;
  const { at, trialDays, metadata, taxRate, livemode, customer } = prepared;
  const lines = prepared.lines.map(({ price, quantity }) =>
    buildLineItem(price, { quantity, description: getId(price.product), isTrial: trialDays > 0, taxRate }),
  );
  const input = {
    mode: order.type === 'paid subscription' ? ('subscription' as const) : ('payment' as const),
    livemode,
    lines,
    customer,
    clientReferenceId: order.applicationUsername ?? null,
    successUrl: 'https://example.com/success',
    cancelUrl: 'https://example.com/cancel',
    metadata,
    customerCreation: 'always' as const,
    invoiceCreation: order.invoiceCreation === true,
  };
  const session = buildSession(at, input, (id) => `https://checkout.stripe.com/c/pay/${id}`);
  saveObject(records, 'checkout/sessions', session);
  records.lineItems.set(session.id, lines);
  records.sessionOptions.set(session.id, {
    trialDays,
    autoRenew: order.autoRenew === true,
    metadata,
    ...(order.country !== undefined && { country: order.country }),
    ...(taxRate !== undefined && { taxRate: taxRate.id }),
    ...(order.capture !== undefined && { isAuthorized: true }),
  });
  return payCheckout(state, session.id, order.pending === true || order.capture !== undefined);
}

const defaultDaysUntilDue = 30;

/** Creates a subscription without a session, like the dashboard or a developer's `POST /v1/subscriptions`. */
function createSubscription(state: AccountState, order: PurchaseOrder, prepared: PreparedOrder): string {
  const { at, livemode, country, taxRate } = prepared;
  const customer =
    prepared.customer ??
    saveObject(state.records, 'customers', buildCustomer(at, { livemode, email: customerEmail, country })).id;
  const { id } = startSubscription(state, {
    ...prepared,
    customer,
    autoRenew: order.autoRenew === true,
    isPending: false,
    taxRates: taxRate === undefined ? [] : [taxRate],
    backdate: order.backdate,
    daysUntilDue: order.collection === undefined ? undefined : (order.daysUntilDue ?? defaultDaysUntilDue),
  });
  return id;
}

/** Returns the prices of an order: for its product and its other items. */
function toPriceRequests({ items = [], ...order }: PurchaseOrder): PriceRequest[] {
  const { type, currency, period } = order;
  return [
    order,
    ...items.map((item): PriceRequest => {
      if (typeof item === 'string') throw controlError(422, 'items: expected objects with productId and priceMicros.');
      const { oneTime = false, ...terms } = item;
      if ((item.period !== undefined || oneTime) && type !== 'paid subscription')
        throw controlError(422, 'items: only items of a subscription have period and oneTime.');
      if (oneTime) return { ...terms, type: 'consumable', ...(currency !== undefined && { currency }) };
      return { type, ...(currency !== undefined && { currency }), ...(period !== undefined && { period }), ...terms };
    }),
  ];
}

/** Finds the customer of an earlier purchase with the same username. */
function findCustomer({ objects }: AccountObjects, username: string | undefined, livemode: boolean): string | null {
  if (username === undefined) return null;
  const session = [...objects['checkout/sessions'].values()].find(
    (object) => object.client_reference_id === username && object.customer !== null && object.livemode === livemode,
  );
  const subscription = [...objects.subscriptions.values()].find(
    (object) => object.metadata.applicationUsername === username && object.livemode === livemode,
  );
  return getId(session?.customer ?? subscription?.customer) || null;
}

function countTrialDays({ trial }: PurchaseOrder, price: Stripe.Price): number {
  if (trial === undefined || trial === false || price.recurring === null) return 0;
  return Math.max(1, Math.round(countDays(trial === true ? getPeriod(price) : trial)));
}
