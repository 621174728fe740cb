import { splitAmount } from '../../foundation/split-amount.ts';
import { toAmount } from './money.ts';
import type { Order, OrderItem } from './payloads.ts';

/** Returns the line of a product. Undefined if the order lacks lines or has lines of other products only. */
export const findLine = ({ lineItems }: Order, productId: string): OrderItem | undefined =>
  lineItems.find((line) => line.productId === productId);

/**
 * Returns the amount that the customer paid for a product, with tax: the line's own total. The order's total covers all
 * lines, so it counts only for an order with one line.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders#LineItem
 */
export const findLineTotal = (order: Order, productId: string): Order['total'] => {
  if (order.lineItems.length > 1) return findLine(order, productId)?.total;
  return order.total ?? order.lineItems[0]?.total;
};

/**
 * Returns the tax within the amount that the customer paid for a product, in micros.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders#LineItem
 */
export function findLineTax(order: Order, productId: string): { readonly taxMicros?: number } {
  const line = order.lineItems.length > 1 ? findLine(order, productId) : order.lineItems[0];
  const tax = line?.tax ?? (order.lineItems.length > 1 ? undefined : order.tax);
  if (!tax || tax.currencyCode !== findLineTotal(order, productId)?.currencyCode) return {};
  return { taxMicros: toAmount(tax).amountMicros };
}

/** An item that a plan change keeps has the order of the replaced token. */
export const isOrderOfOtherToken = ({ purchaseToken = '' }: Order, token: string): boolean =>
  purchaseToken !== '' && purchaseToken !== token;

/**
 * Returns the developer's part of the payment for a product, after fees, tax and refunds. Google Play reports it for
 * the whole order: several lines share it in proportion to their totals.
 */
export function findLineProceeds(order: Order, productId: string): { readonly storeProceedsMicros?: number } {
  const { developerRevenueInBuyerCurrency: revenue, lineItems } = order;
  if (!revenue || revenue.currencyCode !== findLineTotal(order, productId)?.currencyCode) return {};
  const { amountMicros } = toAmount(revenue);
  if (lineItems.length <= 1) return { storeProceedsMicros: amountMicros };
  const parts = splitAmount(
    amountMicros,
    lineItems.map(({ total }) => (total ? toAmount(total).amountMicros : 0)),
  );
  const part = parts[lineItems.findIndex((line) => line.productId === productId)];
  return part === undefined ? {} : { storeProceedsMicros: part };
}

/** Returns the values that are defined. */
export const listDefined = (values: readonly (string | undefined)[]): string[] =>
  values.filter((value) => value !== undefined);
