import type Stripe from 'stripe';
import { countDays } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import type { PurchaseSummary } from '../emulated-store.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { type AccountObjects, getId, saveObject } from './account-objects.ts';
import type { AccountState } from './account-state.ts';
import { getPeriod } from './catalogue.ts';
import { payCheckout } from './checkout.ts';
import { getOrCreatePrice } from './get-or-create-price.ts';
import { listCharges } from './payment-reversals.ts';
import { buildLineItem, buildSession } from './session-objects.ts';
import { getItem } from './subscription-objects.ts';

/** Sells the order through a checkout session, paid at once; gives the id of the purchase. */
export function placeOrder(shop: AccountState, order: PurchaseOrder): string {
  const { books } = shop;
  const at = shop.now();
  if (order.intro !== undefined)
    throw controlError(422, 'intro: the processor has no introductory prices, only trials.');
  const price = getOrCreatePrice(shop, order, { at, livemode: order.sandbox !== true });
  const { applicationUsername } = order;
  const metadata = applicationUsername === undefined ? {} : { applicationUsername };
  const asked = {
    mode: price.recurring ? ('subscription' as const) : ('payment' as const),
    livemode: price.livemode,
    price,
    quantity: order.quantity ?? 1,
    customer: getOrCreateCustomer(books, applicationUsername, price.livemode),
    clientReferenceId: applicationUsername ?? null,
    successUrl: 'https://example.com/success',
    cancelUrl: 'https://example.com/cancel',
    metadata,
    customerCreation: 'always' as const,
  };
  const session = buildSession(at, asked, (id) => `https://checkout.stripe.com/c/pay/${id}`);
  saveObject(books, 'checkout/sessions', session);
  books.lineItems.set(session.id, [buildLineItem(price, asked.quantity, getId(price.product))]);
  books.wishes.set(session.id, { trialDays: trialDays(order, price), autoRenew: order.autoRenew === true, metadata });
  return payCheckout(shop, session.id);
}

/** The same user buys as the same customer. */
function getOrCreateCustomer(
  { objects }: AccountObjects,
  username: string | undefined,
  livemode: boolean,
): string | null {
  if (username === undefined) return null;
  const sessions = [...objects['checkout/sessions'].values()];
  const earlier = sessions.find(
    (one) => one.client_reference_id === username && one.customer !== null && one.livemode === livemode,
  );
  return earlier ? getId(earlier.customer) : null;
}

function trialDays({ trial }: PurchaseOrder, price: Stripe.Price): number {
  if (trial === undefined || trial === false || price.recurring === null) return 0;
  return Math.max(1, Math.round(countDays(trial === true ? getPeriod(price) : trial)));
}

/** The purchase as the control API shows it; undefined for an id that is none. */
export function toPurchaseSummary(books: AccountObjects, id: string): PurchaseSummary | undefined {
  const session = [...books.objects['checkout/sessions'].values()].find(
    (one) => one.status === 'complete' && getPurchaseId(one) === id,
  );
  const subscription = books.objects.subscriptions.get(id);
  const price = subscription ? getItem(subscription).price : books.lineItems.get(session?.id ?? '')?.[0]?.price;
  if (!session || !price) return undefined;
  const product = books.objects.products.get(getId(price.product));
  return {
    id,
    productId: getId(price.product),
    type: product?.metadata.product_type ?? (price.recurring ? 'paid subscription' : 'consumable'),
    state: subscription?.status ?? session.payment_status,
    sandbox: !session.livemode,
    ...(session.client_reference_id !== null && { applicationUsername: session.client_reference_id }),
    sessionId: session.id,
    ...(session.customer !== null && { customerId: getId(session.customer) }),
    charges: listCharges(books, id).map((charge) => charge.id),
    ...(subscription && {
      currentPeriodEnd: new Date(getItem(subscription).current_period_end * 1000).toISOString(),
      cancelAtPeriodEnd: subscription.cancel_at_period_end,
    }),
  };
}

/** The ids of all purchases, oldest first. */
export const listPurchaseIds = ({ objects }: AccountObjects): string[] =>
  [...objects['checkout/sessions'].values()].filter(({ status }) => status === 'complete').map(getPurchaseId);

const getPurchaseId = ({ subscription, payment_intent, id }: Stripe.Checkout.Session): string =>
  getId(subscription) || getId(payment_intent) || id;

const forms = { charge: 'processor_a-charge', brand: 'stripe-charge', purchase: 'processor_a-charge' } as const;

/** The body that a client posts to have the purchase validated: by its latest paid charge, or by the purchase's own id. */
export function buildValidateBody(
  books: AccountObjects,
  id: string,
  form = 'charge',
): Readonly<Record<string, unknown>> {
  if (!Object.hasOwn(forms, form)) throw controlError(400, `form: expected one of ${Object.keys(forms).join(', ')}.`);
  const summary = toPurchaseSummary(books, id);
  if (summary === undefined) throw controlError(404, `There is no purchase ${id}.`);
  const { productId, type, applicationUsername } = summary;
  const charge = listCharges(books, id).findLast(({ paid }) => paid)?.id;
  return {
    id: productId,
    type,
    transaction: { type: forms[form as keyof typeof forms], id: form === 'purchase' ? id : (charge ?? id) },
    ...(applicationUsername !== undefined && { additionalData: { applicationUsername } }),
  };
}
