import type { CancelationReason } from '../../api/schemas.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { platformTokens, withoutPlatform, withPlatform } from '../../foundation/platform.ts';
import { splitAmount } from '../../foundation/split-amount.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { splitPartialRefunds } from '../split-partial-refunds.ts';
import { type MappingContext, toTokenMembers } from './mapping-context.ts';
import { getSmallestUnit, toMicros } from './money.ts';
import type { BraintreeTransaction } from './payloads.ts';
import {
  findReversals,
  getStatusDate,
  hasPaidStatus,
  isPaid,
  isReversedByDispute,
  isSettlementPending,
} from './payment-reversals.ts';

export const toPrefixedId = (id: string): string => withPlatform(platformTokens.braintree, id);

/** Maps a payment to a transaction of a purchase. `refunds` contains at least the refunds of the payment. */
export function toTransaction(
  payment: BraintreeTransaction,
  refunds: readonly BraintreeTransaction[],
  { context, purchaseId }: { readonly context: MappingContext; readonly purchaseId: string },
): Transaction {
  return {
    transactionId: toPrefixedId(payment.id),
    purchaseId: toPrefixedId(purchaseId),
    productId: toPrefixedId(context.productId),
    platform: platformTokens.braintree,
    sandbox: context.sandbox,
    purchaseDate: Date.parse(payment.createdAt),
    quantity: 1,
    ...(payment.currencyIsoCode && { currency: payment.currencyIsoCode }),
    amountMicros: toMicros(payment.amount),
    ...omitUndefined({
      taxMicros: payment.taxAmount === undefined ? undefined : toMicros(payment.taxAmount),
      storefront: findCountry(payment),
      offerType: payment.discounts.length > 0 ? 'discount' : undefined,
    }),
    ...findReversals(payment, refunds),
  };
}

/** Finds the country of a payment: of its billing address, else of its card. */
const findCountry = (payment: BraintreeTransaction): string | undefined => {
  const { billing, creditCard, applePayCard, androidPayCard } = payment;
  const card = creditCard ?? applePayCard ?? androidPayCard;
  return billing?.countryCodeAlpha2 ?? (card?.countryOfIssuance === 'Unknown' ? undefined : card?.countryOfIssuance);
};

/**
 * Maps a one-time payment to one observation for each product of its cart. The first one has the id of the payment, the
 * others add their product.
 */
export function toPaymentObservations(
  payment: BraintreeTransaction,
  refunds: readonly BraintreeTransaction[],
  context: MappingContext,
): Observation[] {
  const transaction = toTransaction(payment, refunds, { context, purchaseId: payment.id });
  return splitTransaction(transaction, context.items).map((part) =>
    toPaymentObservation(payment, part, { context, refunds }),
  );
}

/** Currency whose smallest unit applies if Braintree does not report one. */
const defaultCurrency = 'USD';

/** Splits a payment by the prices of the items. */
function splitTransaction(transaction: Transaction, items: MappingContext['items'] = []): Transaction[] {
  if (items.length === 0) return [transaction];
  const { amountMicros = 0, taxMicros, partialRefunds = [], ...common } = transaction;
  const unit = getSmallestUnit(common.currency ?? defaultCurrency);
  const amounts = splitAmount(
    amountMicros,
    items.map((item) => item.amountMicros),
    unit,
  );
  const taxes = taxMicros === undefined ? [] : splitAmount(taxMicros, amounts, unit);
  const refundParts = splitPartialRefunds(partialRefunds, amounts, unit);
  return items.map(({ productId, quantity }, index) => {
    const suffix = index === 0 ? '' : `:${productId}`;
    const refundPart = refundParts[index] ?? [];
    return {
      ...common,
      transactionId: `${common.transactionId}${suffix}`,
      purchaseId: `${common.purchaseId}${suffix}`,
      productId: toPrefixedId(productId),
      quantity,
      amountMicros: amounts[index] ?? 0,
      ...omitUndefined({ taxMicros: taxes[index] }),
      ...(refundPart.length > 0 && { partialRefunds: refundPart }),
    };
  });
}

function toPaymentObservation(
  payment: BraintreeTransaction,
  transaction: Transaction,
  { context, refunds }: { context: MappingContext; refunds: readonly BraintreeTransaction[] },
): Observation {
  const {
    refundedAt,
    partialRefunds,
    taxMicros: _tax,
    storefront: _country,
    offerType: _offer,
    ...common
  } = transaction;
  const productType = context.productTypes[withoutPlatform(transaction.productId)];
  const isPending = isSettlementPending(payment);
  const hasFailed = !isPaid(payment) && !isPending;
  const endedAt = refundedAt ?? (hasFailed ? getStatusDate(payment) : undefined);
  return {
    asOf: context.asOf,
    purchase: {
      ...common,
      ...(productType && { productType }),
      ...(isPending && { isPending }),
      ...(hasFailed && refundedAt === undefined && !hasPaidStatus(payment) && { isAbandoned: true }),
      ...(endedAt !== undefined && {
        endedAt,
        cancelationReason: toReversalReason(payment, { refundedAt, refunds }),
      }),
    },
    transactions: isPaid(payment) || refundedAt !== undefined ? [transaction] : [],
    userAliases: [],
    refreshToken: { transaction: payment.id, ...toTokenMembers(context) },
  };
}

/** Returns why a payment that failed or was reversed does not give access any longer. */
export function toReversalReason(
  payment: BraintreeTransaction,
  { refundedAt, refunds }: { refundedAt: EpochMillis | undefined; refunds: readonly BraintreeTransaction[] },
): CancelationReason {
  const { status } = payment;
  if (isReversedByDispute(payment, refunds)) return 'System';
  if (refundedAt !== undefined && (isPaid(payment) || status === 'voided')) return 'Customer';
  return status === 'gateway_rejected' ? 'System' : 'System.BillingError';
}
