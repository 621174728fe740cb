import type Stripe from 'stripe';
import { countDays, formatTime, secondMs } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import type { PurchaseSummary } from '../emulated-store.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { type AccountObjects, getId, saveObject } from './account-objects.ts';
import type { AccountState } from './account-state.ts';
import { getPeriod } from './catalogue.ts';
import { payCheckout } from './checkout.ts';
import { getOrCreatePrice, type PriceRequest } from './get-or-create-price.ts';
import { toAmountMicros } from './money.ts';
import { listCharges } from './payment-reversals.ts';
import { summarizePayments } from './payment-summary.ts';
import { buildLineItem, buildSession } from './session-objects.ts';
import { getEarliestEnd, getLatestStart } from './subscription-objects.ts';

/**
 * Places an order through a checkout session that is paid immediately, or later if it is pending. Returns the id of the
 * purchase.
 */
export function placeOrder(state: AccountState, order: PurchaseOrder): string {
  const { records } = state;
  const at = state.now();
  if (order.intro !== undefined) throw controlError(422, 'intro is not supported by Stripe. Use trial.');
  const livemode = order.sandbox !== true;
  const prices = toPriceRequests(order).map((request) => getOrCreatePrice(state, request, { at, livemode }));
  if (new Set(prices).size < prices.length) throw controlError(422, 'items: two of them have the same price.');
  const isRecurring = order.type === 'paid subscription';
  const lines = prices.map((price, index) =>
    buildLineItem(price, index === 0 ? (order.quantity ?? 1) : 1, getId(price.product)),
  );
  const { applicationUsername } = order;
  const metadata = applicationUsername === undefined ? {} : { applicationUsername };
  const input = {
    mode: isRecurring ? ('subscription' as const) : ('payment' as const),
    livemode,
    lines,
    customer: findCustomer(records, applicationUsername, livemode),
    clientReferenceId: applicationUsername ?? null,
    successUrl: 'https://example.com/success',
    cancelUrl: 'https://example.com/cancel',
    metadata,
    customerCreation: 'always' as const,
  };
  const session = buildSession(at, input, (id) => `https://checkout.stripe.com/c/pay/${id}`);
  saveObject(records, 'checkout/sessions', session);
  records.lineItems.set(session.id, lines);
  records.sessionOptions.set(session.id, {
    trialDays: prices[0] ? countTrialDays(order, prices[0]) : 0,
    autoRenew: order.autoRenew === true,
    metadata,
    ...(order.country !== undefined && { country: order.country }),
  });
  return payCheckout(state, session.id, order.pending);
}

/** Returns the prices of an order: of its product and of its further items. */
function toPriceRequests({ items = [], ...order }: PurchaseOrder): PriceRequest[] {
  const { type, currency, period } = order;
  return [
    order,
    ...items.map((item) => {
      if (typeof item === 'string') throw controlError(422, 'items: expected objects with productId and priceMicros.');
      if (item.period !== undefined && type !== 'paid subscription')
        throw controlError(422, 'items: only an item of a subscription has a period.');
      return { type, ...(currency !== undefined && { currency }), ...(period !== undefined && { period }), ...item };
    }),
  ];
}

/** Finds the customer of an earlier purchase with the same username. */
function findCustomer({ objects }: AccountObjects, username: string | undefined, livemode: boolean): string | null {
  if (username === undefined) return null;
  const sessions = [...objects['checkout/sessions'].values()];
  const earlier = sessions.find(
    (session) => session.client_reference_id === username && session.customer !== null && session.livemode === livemode,
  );
  return earlier ? getId(earlier.customer) : null;
}

function countTrialDays({ trial }: PurchaseOrder, price: Stripe.Price): number {
  if (trial === undefined || trial === false || price.recurring === null) return 0;
  return Math.max(1, Math.round(countDays(trial === true ? getPeriod(price) : trial)));
}

/**
 * Creates the summary of a purchase for the control API. The amounts are sums of its succeeded charges. Returns
 * undefined for an unknown id.
 */
export function toPurchaseSummary(records: AccountObjects, id: string): PurchaseSummary | undefined {
  const session = [...records.objects['checkout/sessions'].values()].find(
    (object) => object.status === 'complete' && getPurchaseId(object) === id,
  );
  const subscription = records.objects.subscriptions.get(id);
  const lines = subscription?.items.data ?? records.lineItems.get(session?.id ?? '') ?? [];
  const price = lines[0]?.price;
  if (!session || !price) return undefined;
  const product = records.objects.products.get(getId(price.product));
  return {
    id,
    productId: getId(price.product),
    type: product?.metadata.product_type ?? (price.recurring ? 'paid subscription' : 'consumable'),
    state: subscription?.status ?? session.payment_status,
    sandbox: !session.livemode,
    ...(session.client_reference_id !== null && { applicationUsername: session.client_reference_id }),
    sessionId: session.id,
    ...(session.customer !== null && { customerId: getId(session.customer) }),
    lines: lines.map(toLineSummary),
    ...summarizePayments(records, id),
    ...(subscription && {
      currentPeriodStart: formatTime(getLatestStart(subscription) * secondMs),
      currentPeriodEnd: formatTime(getEarliestEnd(subscription) * secondMs),
      cancelAtPeriodEnd: subscription.cancel_at_period_end,
    }),
  };
}

const toLineSummary = (line: Stripe.SubscriptionItem | Stripe.LineItem) => {
  const { id, price, quantity = 1 } = line;
  return {
    id,
    ...(price && {
      productId: getId(price.product),
      priceMicros: toAmountMicros((price.unit_amount ?? 0) * (quantity ?? 1), price.currency),
      currency: price.currency.toUpperCase(),
    }),
    ...('current_period_end' in line && { currentPeriodEnd: formatTime(line.current_period_end * secondMs) }),
  };
};

/** Lists the ids of all purchases, oldest first. */
export const listPurchaseIds = ({ objects }: AccountObjects): string[] =>
  [...objects['checkout/sessions'].values()].filter(({ status }) => status === 'complete').map(getPurchaseId);

const getPurchaseId = ({ subscription, payment_intent, id }: Stripe.Checkout.Session): string =>
  getId(subscription) || getId(payment_intent) || id;

const forms = { charge: 'processor_a-charge', brand: 'stripe-charge', purchase: 'processor_a-charge' } as const;

/** Builds the validation request of a client, with the latest paid charge or the purchase id as evidence. */
export function buildValidateBody(
  records: AccountObjects,
  id: string,
  form = 'charge',
): Readonly<Record<string, unknown>> {
  if (!Object.hasOwn(forms, form)) throw controlError(400, `form must be one of ${Object.keys(forms).join(', ')}.`);
  const summary = toPurchaseSummary(records, id);
  if (summary === undefined) throw controlError(404, `Purchase ${id} is not found.`);
  const { productId, type, applicationUsername } = summary;
  const charge = listCharges(records, id).findLast(({ paid }) => paid)?.id;
  return {
    id: productId,
    type,
    transaction: { type: forms[form as keyof typeof forms], id: form === 'purchase' ? id : (charge ?? id) },
    ...(applicationUsername !== undefined && { additionalData: { applicationUsername } }),
  };
}
