import type Stripe from 'stripe';
import { formatTime, secondMs } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import type { PurchaseSummary } from '../emulated-store.ts';
import { type AccountObjects, getId } from './account-objects.ts';
import { getPeriod } from './catalogue.ts';
import { toAmountMicros } from './money.ts';
import { toLedger } from './payment-ledger.ts';
import { listCharges } from './payment-reversals.ts';
import { summarizePayments } from './payment-summary.ts';
import { getEarliestEnd, getLatestStart } from './subscription-objects.ts';

/**
 * Creates the summary of a purchase for the control API. The amounts are sums of its payments. Returns undefined for an
 * unknown id.
 */
export function toPurchaseSummary(records: AccountObjects, id: string): PurchaseSummary | undefined {
  const session = [...records.objects['checkout/sessions'].values()].find(
    (object) => object.status === 'complete' && getPurchaseId(object) === id,
  );
  const subscription = records.objects.subscriptions.get(id);
  const lines = subscription?.items.data ?? records.lineItems.get(session?.id ?? '') ?? [];
  const price = lines[0]?.price;
  const source = session ?? subscription;
  if (!source || !price) return undefined;
  const product = records.objects.products.get(getId(price.product));
  const applicationUsername = session?.client_reference_id ?? subscription?.metadata.applicationUsername;
  return {
    id,
    productId: getId(price.product),
    type: product?.metadata.product_type ?? (price.recurring ? 'paid subscription' : 'consumable'),
    state: subscription?.status ?? session?.payment_status ?? 'unpaid',
    sandbox: !source.livemode,
    ...(applicationUsername !== undefined && { applicationUsername }),
    ...(session && { sessionId: session.id }),
    ...(source.customer !== null && { customerId: getId(source.customer) }),
    lines: lines.map(toLineSummary),
    ...summarizePayments(records, id),
    ...toLedger(records, id),
    ...(subscription && {
      currentPeriodStart: formatTime(getLatestStart(subscription) * secondMs),
      currentPeriodEnd: formatTime(getEarliestEnd(subscription) * secondMs),
      cancelAtPeriodEnd: subscription.cancel_at_period_end,
      ...formatDates({
        createdAt: subscription.created,
        startDate: subscription.start_date,
        trialStart: subscription.trial_start,
        trialEnd: subscription.trial_end,
        endedAt: subscription.ended_at,
      }),
    }),
  };
}

const formatDates = (dates: Readonly<Record<string, number | null>>) =>
  Object.fromEntries(
    Object.entries(dates).flatMap(([name, seconds]) =>
      seconds === null ? [] : [[name, formatTime(seconds * secondMs)] as const],
    ),
  );

const toLineSummary = (line: Stripe.SubscriptionItem | Stripe.LineItem) => {
  const { id, price, quantity = 1 } = line;
  return {
    id,
    ...(price && {
      productId: getId(price.product),
      priceMicros: toAmountMicros((price.unit_amount ?? 0) * (quantity ?? 1), price.currency),
      currency: price.currency.toUpperCase(),
      ...(price.recurring && { period: getPeriod(price) }),
    }),
    ...('current_period_end' in line && { currentPeriodEnd: formatTime(line.current_period_end * secondMs) }),
  };
};

/** Lists the ids of all purchases: first of sessions, then of subscriptions without a session, oldest first. */
export function listPurchaseIds({ objects }: AccountObjects): string[] {
  const sessions = [...objects['checkout/sessions'].values()].filter(({ status }) => status === 'complete');
  return [...new Set([...sessions.map(getPurchaseId), ...objects.subscriptions.keys()])];
}

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
