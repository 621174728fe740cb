import type { Transaction } from '../../purchases/transaction.ts';
import { withPlatform } from '../../shared/platform.ts';
import { dayMs, type EpochMillis } from '../../shared/time.ts';
import { toPeriodStart } from '../to-period-start.ts';
import { omitNullish, toMillis } from './convert.ts';
import { findMainLine, type InvoiceShare, isRenewal } from './invoices.ts';
import { type MappingContext, toOfferId } from './mapping-context.ts';
import { toCurrencyCode, toMicros } from './money.ts';
import type { Subscription } from './payloads.ts';
import { toRefundFields } from './payment-reversals.ts';
import type { Line } from './subscription-items.ts';

interface TransactionContext {
  readonly context: MappingContext;
  /** Present product, price and period end of the item. */
  readonly terms: { readonly productId: string; readonly priceId: string; readonly periodEnd: number };
}

/**
 * Maps the part of a paid invoice that bills an item to a transaction. The main item has the id of the invoice, another
 * one adds its own.
 */
export function toInvoiceTransaction(
  share: InvoiceShare,
  subscription: Subscription,
  { context, terms }: TransactionContext,
): Transaction {
  const { platform } = context;
  const { invoice, item, amount, country } = share;
  const line = findMainLine(share, terms.periodEnd);
  const { product, price } = line?.pricing?.price_details ?? { product: terms.productId, price: terms.priceId };
  const isTrial = amount === 0 && line !== undefined && subscription.trial_end === line.period.end;
  const purchaseDate = getPurchaseDate(share, subscription);
  const isMain = item.purchaseId === subscription.id;
  return {
    transactionId: withPlatform(platform, isMain ? invoice.id : `${invoice.id}:${item.itemIds[0]}`),
    purchaseId: withPlatform(platform, item.purchaseId),
    productId: withPlatform(platform, product),
    offerId: toOfferId(context, product, price),
    platform,
    sandbox: !subscription.livemode,
    purchaseDate,
    ...(invoice.currency && {
      currency: toCurrencyCode(invoice.currency),
      ...(invoice.amount_paid !== null && { amountMicros: toMicros(amount, invoice.currency) }),
    }),
    isRenewal: isRenewal(share),
    ...omitNullish({
      quantity: line?.quantity,
      periodStartDate: line && toPeriodStart(toMillis(line.period.start), purchaseDate),
      expirationDate: line && toMillis(line.period.end),
      isTrialPeriod: isTrial || undefined,
      storefront: country,
      ...toOffer(share, isTrial, line),
    }),
    ...toRefundFields(share.reversals),
  };
}

/** Returns the kind of offer that an invoice bills, and the length of a trial. */
function toOffer({ lines }: InvoiceShare, isTrial: boolean, line: Line | undefined) {
  if (isTrial && line) return { offerType: 'trial', offerPeriod: toDays(line.period) };
  const isDiscounted = lines.some(({ discount_amounts }) => discount_amounts.some(({ amount }) => amount > 0));
  return { offerType: isDiscounted ? 'discount' : undefined };
}

const toDays = ({ start, end }: Line['period']): string => `P${Math.round(toMillis(end - start) / dayMs)}D`;

/** The first invoice is paid shortly after the start. Its payment time would be mistaken for a renewal. */
function getPurchaseDate({ invoice, lines }: InvoiceShare, { start_date }: Subscription): EpochMillis {
  const { billing_reason, status_transitions, created } = invoice;
  const paidAt = status_transitions?.paid_at ?? (created || lines[0]?.period.start) ?? 0;
  return toMillis(billing_reason === 'subscription_create' ? (start_date ?? paidAt) : paidAt);
}
