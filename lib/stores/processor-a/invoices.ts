import { prefixed } from '../../purchases/platform.ts';
import type { Transaction } from '../../transactions/transaction.ts';
import { defined, millis } from './defined.ts';
import { currencyOf, microsOf } from './money.ts';
import type { Invoice, Subscription } from './objects.ts';
import { type Origin, offerIdOf } from './origin.ts';
import type { Takeback } from './takebacks.ts';

/** The subscription that the invoice is for. */
export const subscriptionIdOf = ({ parent }: Invoice): string | undefined => parent?.subscription_details?.subscription;

/** When an invoice was paid, or made when it needed no payment. */
const paidAt = ({ status_transitions: { paid_at }, created }: Invoice): number => millis(paid_at ?? created);

/** The paid invoices, oldest first. */
export const paidInvoices = (invoices: readonly Invoice[]): Invoice[] =>
  invoices.filter(({ status }) => status === 'paid').sort((a, b) => a.created - b.created || paidAt(a) - paidAt(b));

/** What became of an invoice's money, if it went back. */
export function takebackOfInvoice(
  { payments }: Invoice,
  takebacks: ReadonlyMap<string, Takeback>,
): Takeback | undefined {
  const ids = (payments?.data ?? []).flatMap(({ payment }) => [payment.charge, payment.payment_intent]);
  return ids.flatMap((id) => (id === undefined ? [] : (takebacks.get(id) ?? [])))[0];
}

/** The transaction that a paid invoice is. */
export function invoiceTransaction(
  invoice: Invoice,
  subscription: Subscription,
  { origin, takebacks }: { origin: Origin; takebacks: ReadonlyMap<string, Takeback> },
): Transaction {
  const { platform } = origin;
  const line = mainLine(invoice);
  const [item] = subscription.items.data;
  const bought = line?.pricing?.price_details ?? { product: productIdOf(item), price: item?.price.id ?? '' };
  const isTrial = invoice.amount_paid === 0 && subscription.trial_end === line?.period.end;
  return {
    transactionId: prefixed(platform, invoice.id),
    purchaseId: prefixed(platform, subscription.id),
    productId: prefixed(platform, bought.product),
    offerId: offerIdOf(origin, bought.product, bought.price),
    platform,
    sandbox: !subscription.livemode,
    // The first invoice is paid moments after the start; that must not look like a renewal.
    purchaseDate: invoice.billing_reason === 'subscription_create' ? millis(subscription.start_date) : paidAt(invoice),
    currency: currencyOf(invoice.currency),
    amountMicros: microsOf(invoice.amount_paid, invoice.currency),
    ...defined({
      quantity: line?.quantity,
      expirationDate: line && millis(line.period.end),
      isTrialPeriod: isTrial || undefined,
      refundedAt: takebackOfInvoice(invoice, takebacks)?.at,
    }),
  };
}

/** Of the lines, the last that is no credit or charge for a part of a period; else the last. */
function mainLine({ lines: { data } }: Invoice): Invoice['lines']['data'][number] | undefined {
  const isProration = ({ parent }: (typeof data)[number]): boolean =>
    (parent?.subscription_item_details ?? parent?.invoice_item_details)?.proration === true;
  return data.findLast((line) => !isProration(line)) ?? data.at(-1);
}

/** The product of a subscription item. */
export function productIdOf(item: Subscription['items']['data'][number] | undefined): string {
  const product = item?.price.product ?? '';
  return typeof product === 'string' ? product : product.id;
}
