import { type InvoiceShare, isPaid } from './invoices.ts';
import { getPriceProductId } from './mapping-context.ts';
import { listBillings, listPaidTime } from './paid-periods.ts';
import type { Subscription } from './payloads.ts';
import type { BilledItem } from './subscription-items.ts';

/** The current terms of an item, or its last ones if it was removed. Times are epoch seconds. */
export interface ItemTerms {
  readonly productId: string;
  readonly priceId: string;
  readonly currency: string;
  readonly quantity: number | null;
  readonly createdAt: number | null;
  readonly periodStart: number;
  readonly periodEnd: number;
}

/** Returns the terms of an item. A removed item has the last ones that were paid. */
export function getTerms(
  { current, removedAt }: BilledItem,
  shares: readonly InvoiceShare[],
  subscription: Subscription,
): ItemTerms {
  if (current) {
    return {
      productId: getPriceProductId(current.price),
      priceId: current.price.id,
      currency: subscription.currency ?? current.price.currency,
      quantity: current.quantity,
      createdAt: current.created,
      periodStart: current.current_period_start,
      periodEnd: current.current_period_end,
    };
  }
  const anyPeriod = { periodStart: Number.NEGATIVE_INFINITY, periodEnd: Number.POSITIVE_INFINITY };
  const paid = listPaidTime(listBillings(shares, subscription, anyPeriod));
  const { line, period, share } = paid.at(-1) ?? {};
  const { product = '', price = '' } = line?.pricing?.price_details ?? {};
  return {
    productId: product,
    priceId: price,
    currency: (share ?? shares.find(({ invoice }) => isPaid(invoice)))?.invoice.currency ?? '',
    quantity: line?.quantity ?? null,
    createdAt: paid[0]?.period.start ?? null,
    periodStart: period?.start ?? removedAt ?? 0,
    periodEnd: removedAt ?? period?.end ?? 0,
  };
}
