import { withPlatform } from '../../foundation/platform.ts';
import { dayMs, type EpochMillis, hourMs } from '../../foundation/time.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { toPeriodStart } from '../to-period-start.ts';
import { getPaidEnd } from './access-end.ts';
import { getFirstPaidAt, getPaidAt, type InvoiceShare, isPaid } from './invoices.ts';
import type { ItemTerms } from './item-terms.ts';
import { type MappingContext, toOfferId } from './mapping-context.ts';
import { omitNullish, toCurrencyCode, toMicros, toMillis } from './money.ts';
import { type Billing, isRenewal, listPaidTime } from './paid-periods.ts';
import type { Subscription } from './payloads.ts';
import { toRefundFields } from './payment-reversals.ts';
import { findPlanPrice } from './plan-price.ts';
import { findGrantedEnd, findTrialEnd, isPaidTrial, type TrialOffer } from './trials.ts';

interface TransactionContext {
  readonly mapping: MappingContext;
  readonly terms: ItemTerms;
  /** All billings of the item. */
  readonly billings: readonly Billing[];
  /** Start of the subscription in epoch seconds. */
  readonly startedAt: number | null;
  readonly offer: TrialOffer | undefined;
}

/** Returns the id of a transaction: the main item has the id of the invoice, another one adds its own. */
export const toInvoiceTransactionId = (
  { invoice, item }: InvoiceShare,
  { platform, isMain }: { readonly platform: MappingContext['platform']; readonly isMain: boolean },
): string => withPlatform(platform, isMain ? invoice.id : `${invoice.id}:${item.itemIds[0]}`);

/**
 * Maps the part of a paid invoice that bills an item to a transaction. Money that pays no period does not have an
 * expiration date.
 */
export function toInvoiceTransaction(
  billing: Billing,
  subscription: Subscription,
  { mapping, terms, billings, startedAt, offer }: TransactionContext,
): Transaction {
  const { platform } = mapping;
  const { share, line } = billing;
  const { invoice, item, amount, tax, country } = share;
  const { product, price } = findPrice(billing, { billings, terms });
  const purchaseDate = getPurchaseDate(share, startedAt);
  const trialEnd = findTrialEnd(billing, { subscription, billings, prices: mapping.pastPrices });
  const isFree = trialEnd !== undefined;
  const grantedEnd = billing.period && findGrantedEnd(billing.period, subscription);
  const expirationDate = getPaidEnd(billing, { billings, trialEnd: trialEnd ?? grantedEnd });
  const start = expirationDate === undefined ? undefined : billing.period?.start;
  return {
    transactionId: toInvoiceTransactionId(share, { platform, isMain: item.purchaseId === subscription.id }),
    purchaseId: withPlatform(platform, item.purchaseId),
    productId: withPlatform(platform, product),
    offerId: toOfferId(mapping, product, price),
    platform,
    sandbox: !subscription.livemode,
    purchaseDate,
    ...(invoice.currency && {
      currency: toCurrencyCode(invoice.currency),
      ...(invoice.amount_paid !== null && { amountMicros: toMicros(amount, invoice.currency) }),
      ...(tax !== undefined && { taxMicros: toMicros(tax, invoice.currency) }),
    }),
    isRenewal: isRenewal(billing),
    ...omitNullish({
      quantity: line?.quantity,
      periodStartDate: start === undefined ? undefined : toPeriodStart(toMillis(start), purchaseDate),
      expirationDate,
      plan: findPlanPrice(billing, {
        billings,
        price: item.current?.price,
        prices: mapping.pastPrices,
        isExtended: grantedEnd !== undefined,
      }),
      isTrialPeriod: isFree || undefined,
      isIntroPeriod: isPaidTrial(billing, offer) || undefined,
      storefront: country,
      ...toOffer(billing, isFree),
    }),
    ...toRefundFields(share.reversals),
  };
}

/** Returns the price that a transaction is for. Money that pays no period belongs to the price paid before it. */
function findPrice(
  { kind, line, share }: Billing,
  { billings, terms }: Pick<TransactionContext, 'billings' | 'terms'>,
): { readonly product: string; readonly price: string } {
  const before = listPaidTime(billings).findLast((other) => other.share.invoice.created <= share.invoice.created);
  const named = kind === 'extra' ? before?.line : line;
  return named?.pricing?.price_details ?? { product: terms.productId, price: terms.priceId };
}

/** Returns the kind of offer that an invoice bills, and the length of a trial. */
function toOffer({ share, line }: Billing, isFree: boolean) {
  if (isFree && line) return { offerType: 'trial', offerPeriod: toDays(line.period) };
  const isDiscounted = share.lines.some(({ discount_amounts }) => discount_amounts.some(({ amount }) => amount > 0));
  return { offerType: isDiscounted ? 'discount' : undefined };
}

const toDays = ({ start, end }: { readonly start: number; readonly end: number }): string =>
  `P${Math.round(toMillis(end - start) / dayMs)}D`;

/**
 * Returns the date of the payment. The first invoice is paid shortly after the start: that time would be mistaken for a
 * renewal.
 */
function getPurchaseDate({ invoice }: InvoiceShare, startedAt: number | null): EpochMillis {
  if (!isPaid(invoice)) return toMillis(getFirstPaidAt(invoice) ?? invoice.created);
  const paidAt = toMillis(getPaidAt(invoice));
  if (invoice.billing_reason !== 'subscription_create' || startedAt === null) return paidAt;
  const start = toMillis(startedAt);
  return Math.abs(paidAt - start) <= hourMs ? start : paidAt;
}
