import type { Transaction } from '../../purchases/transaction.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { omitNullish, toMillis } from './convert.ts';
import { type MappingContext, toOfferId } from './mapping-context.ts';
import { toCurrencyCode, toMicros } from './money.ts';
import type { Invoice, Subscription } from './payloads.ts';
import { getPriceProductId } from './payment-observation.ts';
import { type PaymentReversals, toRefundFields } from './payment-reversals.ts';

type Line = Invoice['lines']['data'][number];

/** Returns the id of the subscription that an invoice bills. */
export const getSubscriptionId = ({ parent }: Invoice): string | undefined =>
  parent?.subscription_details?.subscription;

/** Returns the payment time, or the creation time of an invoice that needed no payment. */
const getPaidAt = ({ status_transitions: { paid_at }, created }: Invoice): EpochMillis => toMillis(paid_at ?? created);

/** Returns the paid invoices, oldest first. */
export const filterPaidInvoices = (invoices: readonly Invoice[]): Invoice[] =>
  invoices
    .filter(({ status }) => status === 'paid')
    .sort((a, b) => a.created - b.created || getPaidAt(a) - getPaidAt(b));

/** Whether an invoice renews its subscription. The invoice of a plan change does not. */
const isRenewal = ({ billing_reason }: Invoice): boolean => billing_reason === 'subscription_cycle';

/** Returns the start of the latest renewed period. `paid` are the paid invoices, oldest first. */
export function findLastRenewalDate(paid: readonly Invoice[]): EpochMillis | undefined {
  const invoice = paid.findLast(isRenewal);
  return invoice && toMillis(findMainLine(invoice)?.period.start ?? invoice.created);
}

/** Finds the reversals of an invoice's payment. */
export function findInvoiceReversals(
  { payments }: Invoice,
  reversals: ReadonlyMap<string, PaymentReversals>,
): PaymentReversals | undefined {
  const ids = (payments?.data ?? []).flatMap(({ payment }) => [payment.charge, payment.payment_intent]);
  return ids.flatMap((id) => (id === undefined ? [] : (reversals.get(id) ?? [])))[0];
}

/** Maps a paid invoice to a transaction. */
export function toInvoiceTransaction(
  invoice: Invoice,
  subscription: Subscription,
  { context, reversals }: { context: MappingContext; reversals: ReadonlyMap<string, PaymentReversals> },
): Transaction {
  const { platform } = context;
  const line = findMainLine(invoice);
  const { product, price } = line?.pricing?.price_details ?? getCurrentPrice(subscription);
  const isTrial = invoice.amount_paid === 0 && subscription.trial_end === line?.period.end;
  return {
    transactionId: withPlatform(platform, invoice.id),
    purchaseId: withPlatform(platform, subscription.id),
    productId: withPlatform(platform, product),
    offerId: toOfferId(context, product, price),
    platform,
    sandbox: !subscription.livemode,
    // The first invoice is paid shortly after the start. Its payment time would be mistaken for a renewal.
    purchaseDate:
      invoice.billing_reason === 'subscription_create' ? toMillis(subscription.start_date) : getPaidAt(invoice),
    currency: toCurrencyCode(invoice.currency),
    amountMicros: toMicros(invoice.amount_paid, invoice.currency),
    isRenewal: isRenewal(invoice),
    ...omitNullish({
      quantity: line?.quantity,
      expirationDate: line && toMillis(line.period.end),
      isTrialPeriod: isTrial || undefined,
    }),
    ...toRefundFields(findInvoiceReversals(invoice, reversals)),
  };
}

/**
 * Finds the last line that is not a proration, or the last line if all of them are prorations.
 *
 * @see https://docs.stripe.com/billing/subscriptions/prorations
 */
function findMainLine({ lines: { data } }: Invoice): Line | undefined {
  const isProration = ({ parent }: Line): boolean =>
    (parent?.subscription_item_details ?? parent?.invoice_item_details)?.proration === true;
  return data.findLast((line) => !isProration(line)) ?? data.at(-1);
}

function getCurrentPrice({ items }: Subscription): { product: string; price: string } {
  const [item] = items.data;
  return item ? { product: getPriceProductId(item.price), price: item.price.id } : { product: '', price: '' };
}
