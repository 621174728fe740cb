import Stripe from 'stripe';
import * as v from 'valibot';
import { withoutPlatform } from '../../shared/platform.ts';
import { dayMs, secondMs } from '../../shared/time.ts';
import { type ActionRequest, rejectedActionError, type StoreAnswer } from '../purchase-action.ts';
import type { StoreContext } from '../store-context.ts';
import { storeName } from './api-errors.ts';
import { toCurrencyCode, toMicros, toMinorUnits } from './money.ts';
import { parseStripeObject } from './payloads.ts';
import { callStripe, createStripeClient } from './stripe-client.ts';

/** Performs an action by the Stripe API. Throws `Conflict` if Stripe rejects it. */
export async function performAction(request: ActionRequest, context: StoreContext): Promise<StoreAnswer> {
  const stripe = createStripeClient(context);
  return await callStripe(async () => {
    try {
      return await send(request, stripe);
    } catch (error) {
      if (error instanceof Stripe.errors.StripeInvalidRequestError) throw rejectedActionError(storeName, error.message);
      throw error;
    }
  });
}

async function send(request: ActionRequest, stripe: Stripe): Promise<StoreAnswer> {
  const { action, purchase, days = 0, requestId: idempotencyKey } = request;
  if (action === 'refund') return await refund(request, stripe);
  // An item of a subscription is `sub_…:si_…`.
  const [id = ''] = withoutPlatform(purchase.purchaseId).split(':', 1);
  if (action === 'revoke') {
    const { status } = await stripe.subscriptions.cancel(id, {}, { idempotencyKey });
    return { status };
  }
  const params: Stripe.SubscriptionUpdateParams =
    action === 'cancel'
      ? { cancel_at_period_end: true }
      : { trial_end: toTrialEnd(purchase.expirationDate, days), proration_behavior: 'none' };
  const { status, trial_end } = await stripe.subscriptions.update(id, params, { idempotencyKey });
  if (action === 'cancel') return { status: 'cancels at the end of the period' };
  return { status, ...(trial_end && { until: new Date(trial_end * secondMs).toISOString() }) };
}

/** @see https://docs.stripe.com/billing/subscriptions/trials */
const toTrialEnd = (expirationDate = 0, days: number): number => Math.floor((expirationDate + days * dayMs) / secondMs);

const Payments = v.array(v.object({ payment: v.object({ payment_intent: v.exactOptional(v.nullable(v.string())) }) }));

/**
 * Refunds the part of a payment that belongs to the purchase. An invoice can bill several of them.
 *
 * @see https://docs.stripe.com/api/refunds/create
 */
async function refund(
  { payment, amountMicros, requestId: idempotencyKey }: ActionRequest,
  stripe: Stripe,
): Promise<StoreAnswer> {
  const { transactionId = '', currency = 'USD' } = payment ?? {};
  const [id = ''] = withoutPlatform(transactionId).split(':', 1);
  const created = await stripe.refunds.create(
    {
      ...(await findCharge(id, stripe)),
      ...(amountMicros !== undefined && { amount: toMinorUnits(amountMicros, currency) }),
      reason: 'requested_by_customer',
    },
    { idempotencyKey },
  );
  return {
    status: created.status ?? 'created',
    id: created.id,
    amountMicros: toMicros(created.amount, created.currency),
    currency: toCurrencyCode(created.currency),
  };
}

async function findCharge(id: string, stripe: Stripe): Promise<{ charge: string } | { payment_intent: string }> {
  if (id.startsWith('pi_')) return { payment_intent: id };
  if (!id.startsWith('in_')) return { charge: id };
  const { data } = await stripe.invoicePayments.list({ invoice: id, status: 'paid', limit: 10 });
  const [intent] = parseStripeObject(Payments, data).flatMap(({ payment }) => payment.payment_intent ?? []);
  if (intent === undefined) throw rejectedActionError(storeName, 'the invoice has no payment to refund.');
  return { payment_intent: intent };
}
