import type { Transaction } from '../../purchases/transaction.ts';
import { withPlatform } from '../../shared/platform.ts';
import { omitNullish, toMillis } from './convert.ts';
import { type MappingContext, toOfferId } from './mapping-context.ts';
import { toCurrencyCode, toMicros } from './money.ts';
import type { Invoice, Subscription } from './payloads.ts';
import type { PaymentReversal } from './payment-reversals.ts';

/** The subscription that the invoice is for. */
export const getSubscriptionId = ({ parent }: Invoice): string | undefined =>
  parent?.subscription_details?.subscription;

/** When an invoice was paid, or made when it needed no payment. */
const getPaidAt = ({ status_transitions: { paid_at }, created }: Invoice): number => toMillis(paid_at ?? created);

/** The paid invoices, oldest first. */
export const filterPaidInvoices = (invoices: readonly Invoice[]): Invoice[] =>
  invoices
    .filter(({ status }) => status === 'paid')
    .sort((a, b) => a.created - b.created || getPaidAt(a) - getPaidAt(b));

/** What became of an invoice's money, if it went back. */
export function findInvoiceReversal(
  { payments }: Invoice,
  takebacks: ReadonlyMap<string, PaymentReversal>,
): PaymentReversal | undefined {
  const ids = (payments?.data ?? []).flatMap(({ payment }) => [payment.charge, payment.payment_intent]);
  return ids.flatMap((id) => (id === undefined ? [] : (takebacks.get(id) ?? [])))[0];
}

/** The transaction that a paid invoice is. */
export function toInvoiceTransaction(
  invoice: Invoice,
  subscription: Subscription,
  { origin: context, takebacks }: { origin: MappingContext; takebacks: ReadonlyMap<string, PaymentReversal> },
): Transaction {
  const { platform } = context;
  const line = findMainLine(invoice);
  const [item] = subscription.items.data;
  const bought = line?.pricing?.price_details ?? { product: getProductId(item), price: item?.price.id ?? '' };
  const isTrial = invoice.amount_paid === 0 && subscription.trial_end === line?.period.end;
  return {
    transactionId: withPlatform(platform, invoice.id),
    purchaseId: withPlatform(platform, subscription.id),
    productId: withPlatform(platform, bought.product),
    offerId: toOfferId(context, bought.product, bought.price),
    platform,
    sandbox: !subscription.livemode,
    // The first invoice is paid moments after the start; that must not look like a renewal.
    purchaseDate:
      invoice.billing_reason === 'subscription_create' ? toMillis(subscription.start_date) : getPaidAt(invoice),
    currency: toCurrencyCode(invoice.currency),
    amountMicros: toMicros(invoice.amount_paid, invoice.currency),
    ...omitNullish({
      quantity: line?.quantity,
      expirationDate: line && toMillis(line.period.end),
      isTrialPeriod: isTrial || undefined,
      refundedAt: findInvoiceReversal(invoice, takebacks)?.at,
    }),
  };
}

/** Of the lines, the last that is no credit or charge for a part of a period; else the last. */
function findMainLine({ lines: { data } }: Invoice): Invoice['lines']['data'][number] | undefined {
  const isProration = ({ parent }: (typeof data)[number]): boolean =>
    (parent?.subscription_item_details ?? parent?.invoice_item_details)?.proration === true;
  return data.findLast((line) => !isProration(line)) ?? data.at(-1);
}

/** The product of a subscription item. */
export function getProductId(item: Subscription['items']['data'][number] | undefined): string {
  const product = item?.price.product ?? '';
  return typeof product === 'string' ? product : product.id;
}
