import { findCatalogueProduct } from '../../apps/catalogue.ts';
import { addBillingPeriods, type BillingPeriod } from '../../foundation/billing-period.ts';
import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import { dayMs } from '../../foundation/time.ts';
import type { PlanPrice, Transaction } from '../../purchases/transaction.ts';
import type { MappingContext } from './mapping-context.ts';
import { toAmount } from './money.ts';
import { findLineTax, findLineTotal } from './order-lines.ts';
import { parseRenewalNumber } from './paid-period.ts';
import type { LineItem, Order, Subscription } from './payloads.ts';
import type { Predecessors } from './predecessors.ts';
import { isPeriodRunning } from './subscription-state.ts';

/**
 * Uses the total of the order's line, otherwise the plan's price at full price and zero in a trial. The first order of
 * a plan change can be any part of the price, and so can the order before a declined renewal or the end of an offer.
 */
export function toSubscriptionAmount(
  subscription: Subscription,
  item: LineItem,
  order: Order | undefined,
): Pick<Transaction, 'currency' | 'amountMicros'> {
  const { productId, offerPhase = {}, offerDetails, autoRenewingPlan } = item;
  const { freeTrial, introductoryPrice } = offerPhase;
  const price = autoRenewingPlan?.recurringPrice;
  const isPhaseUnknown = offerDetails?.offerId !== undefined && !isPeriodRunning(subscription);
  const isFullPrice = !freeTrial && !introductoryPrice && !isPhaseUnknown && !isPartialPayment(item);
  const amount = (order && findLineTotal(order, productId)) ?? (isFullPrice ? price : undefined);
  if (amount) return toAmount(amount);
  return freeTrial && price?.currencyCode ? { currency: price.currencyCode, amountMicros: 0 } : {};
}

/**
 * Modes of a plan change whose first payment is the price of a whole period.
 * @see https://developer.android.com/google/play/billing/subscriptions#replacement-modes
 */
const fullPriceModes = new Set(['CHARGE_FULL_PRICE', 'DEFERRED', 'KEEP_EXISTING']);

/** The latest order is the first one of a plan change that charges a part of the price, or nothing. */
function isPartialPayment({ offerPhase, itemReplacement, latestSuccessfulOrderId }: LineItem): boolean {
  if (offerPhase?.prorationPeriod) return true;
  const { replacementMode = 'CHARGE_FULL_PRICE' } = itemReplacement ?? {};
  return parseRenewalNumber(latestSuccessfulOrderId) === undefined && !fullPriceModes.has(replacementMode);
}

export interface PlanContext extends Pick<MappingContext, 'catalogue'> {
  readonly predecessors: Predecessors;
  /** The billing period of each purchase of the replaced token. */
  readonly replacedPeriods: ReadonlyMap<string, BillingPeriod>;
  readonly order: Order | undefined;
  /** The period that the payment pays. */
  readonly paid: Pick<Transaction, 'purchaseDate' | 'periodStartDate' | 'expirationDate'>;
}

/**
 * Returns the price of the plan for a payment of a part of a period, or of one that the rest of the former plan
 * extends. Google Play does not report the length of a period: it comes from the catalogue or from the replaced
 * purchase, whose renewal date a prorated charge keeps.
 */
export function findPlanPrice(
  item: LineItem,
  { order, catalogue, predecessors, replacedPeriods, paid }: PlanContext,
): PlanPrice | undefined {
  const price = item.autoRenewingPlan?.recurringPrice;
  if (!price || !order) return undefined;
  const period =
    findCatalogueProduct(catalogue, withPlatform(platformTokens.googlePlay, item.productId))?.billingPeriod ??
    replacedPeriods.get(predecessors.replacedIds.get(item.productId) ?? '');
  if (period === undefined) return undefined;
  if (isPartialPayment(item)) return { amountMicros: addTax(toAmount(price).amountMicros, item, order), period };
  if (!isExtendedPeriod(item, paid, period)) return undefined;
  // The price of the plan is without the tax that some countries add.
  const { amountMicros } = toAmount(findLineTotal(order, item.productId) ?? price);
  return { amountMicros, ...findLineTax(order, item.productId), period };
}

/**
 * Adds the tax of the payment to the price of a plan, which lacks it where Google Play adds it to the listed prices.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders#OrderDetails
 */
function addTax(amountMicros: number, { productId }: LineItem, order: Order): number {
  const total = findLineTotal(order, productId);
  const paid = total ? toAmount(total).amountMicros : 0;
  const { taxMicros = 0 } = findLineTax(order, productId);
  const isAdded = order.orderDetails?.taxInclusive === false && paid > taxMicros;
  return isAdded ? Math.round((amountMicros * paid) / (paid - taxMicros)) : amountMicros;
}

/**
 * The first payment of a plan change at full price: the period of the new plan, which the value of the rest of the
 * former plan extends. A period with a different interval is longer or shorter.
 */
function isExtendedPeriod(
  { itemReplacement, latestSuccessfulOrderId, offerPhase = {} }: LineItem,
  { purchaseDate, periodStartDate: start = purchaseDate, expirationDate = start }: PlanContext['paid'],
  period: BillingPeriod,
): boolean {
  const isChange = itemReplacement?.replacementMode === 'CHARGE_FULL_PRICE' && !offerPhase.introductoryPrice;
  const isFirst = isChange && !offerPhase.freeTrial && parseRenewalNumber(latestSuccessfulOrderId) === undefined;
  const extra = expirationDate - addBillingPeriods(start, period);
  return isFirst && extra >= dayMs && expirationDate < addBillingPeriods(start, period, 2);
}
