import pMap from 'p-map';
import Stripe from 'stripe';
import * as v from 'valibot';
import { sum } from '../../foundation/collections.ts';
import { withoutPlatform } from '../../foundation/platform.ts';
import { dayMs, secondMs } from '../../foundation/time.ts';
import { type ActionRequest, rejectedActionError, type StoreAnswer } from '../purchase-action.ts';
import type { StoreContext } from '../store-context.ts';
import { storeName } from './api-errors.ts';
import { concurrency, listAll, pageSize } from './complete-lists.ts';
import { NullableReference } from './lenient-schemas.ts';
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

const Payments = v.array(
  v.object({ payment: v.object({ payment_intent: NullableReference, charge: NullableReference }) }),
);
const ChargedAmounts = v.object({ amount: v.number(), amount_refunded: v.number() });
const PaidIntent = v.object({ latest_charge: ChargedAmounts });

type PaidBy = { readonly charge: string } | { readonly payment_intent: string };

/** Parameters of a refund. Without an amount in the currency's smallest unit, all that is left is refunded. */
type RefundParams = PaidBy & {
  readonly amount?: number;
  /** Idempotency key, if it differs from the one of the request. */
  readonly key?: string;
};

/**
 * Refunds the part of a payment that belongs to the purchase. An invoice can bill several of them, and can have several
 * payments.
 *
 * @see https://docs.stripe.com/api/refunds/create
 */
async function refund(request: ActionRequest, stripe: Stripe): Promise<StoreAnswer> {
  const { payment, amountMicros, requestId } = request;
  const { transactionId = '', currency = 'USD' } = payment ?? {};
  const [id = ''] = withoutPlatform(transactionId).split(':', 1);
  const amount = amountMicros === undefined ? undefined : toMinorUnits(amountMicros, currency);
  const refunds: Stripe.Refund[] = [];
  for (const { key = requestId, ...params } of await listRefunds(id, amount, { ...request, stripe })) {
    const refundParams = { ...params, reason: 'requested_by_customer' as const };
    refunds.push(await stripe.refunds.create(refundParams, { idempotencyKey: key }));
  }
  const last = refunds.at(-1);
  if (!last) throw rejectedActionError(storeName, 'the invoice has no payment to refund.');
  return {
    status: last.status ?? 'created',
    id: last.id,
    amountMicros: sum(refunds.map(({ amount, currency }) => toMicros(amount, currency))),
    currency: toCurrencyCode(last.currency),
  };
}

async function listRefunds(
  id: string,
  amount: number | undefined,
  { stripe, requestId, isPart }: Pick<ActionRequest, 'requestId' | 'isPart'> & { readonly stripe: Stripe },
): Promise<RefundParams[]> {
  const part = amount === undefined ? {} : { amount };
  if (id.startsWith('pi_')) return [{ payment_intent: id, ...part }];
  if (!id.startsWith('in_')) return [{ charge: id, ...part }];
  const paid = await listAll(stripe.invoicePayments.list({ invoice: id, status: 'paid', limit: pageSize }));
  const payments = parseStripeObject(Payments, paid).flatMap(({ payment: { charge, payment_intent } }): PaidBy[] =>
    payment_intent !== null ? [{ payment_intent }] : charge !== null ? [{ charge }] : [],
  );
  if (payments.length <= 1) return payments.map((payment) => ({ ...payment, ...part }));
  const open = await pMap(
    payments,
    async (payment) => ({ payment, remaining: await fetchRemaining(payment, stripe) }),
    { concurrency },
  );
  const single = open.find(({ remaining }) => remaining >= (amount ?? Number.POSITIVE_INFINITY));
  if (single) return [{ ...single.payment, ...part }];
  if (isPart) throw rejectedActionError(storeName, 'no payment of the invoice has the amount left.');
  const amounts = takeInOrder(
    amount ?? Number.POSITIVE_INFINITY,
    open.map(({ remaining }) => remaining),
  );
  // A key for each payment: a repeated request continues after a lost response.
  return open.flatMap(({ payment }, index) => {
    const own = amounts[index] ?? 0;
    return own > 0 ? [{ ...payment, amount: own, key: `${requestId}:${Object.values(payment)}` }] : [];
  });
}

/** Takes an amount from the first parts. */
const takeInOrder = (amount: number, [first, ...others]: readonly number[]): number[] => {
  if (first === undefined) return [];
  const own = Math.min(first, amount);
  return [own, ...takeInOrder(amount - own, others)];
};

async function fetchRemaining(payment: PaidBy, stripe: Stripe): Promise<number> {
  const charge =
    'charge' in payment
      ? parseStripeObject(ChargedAmounts, await stripe.charges.retrieve(payment.charge))
      : parseStripeObject(
          PaidIntent,
          await stripe.paymentIntents.retrieve(payment.payment_intent, { expand: ['latest_charge'] }),
        ).latest_charge;
  return charge.amount - charge.amount_refunded;
}
