import { type BillingPeriod, toBillingPeriod } from '../../foundation/billing-period.ts';
import type { PlanPrice } from '../../purchases/transaction.ts';
import { getNetAmount, sumTaxes, sumTotals } from './invoices.ts';
import { toMicros, toMillis } from './money.ts';
import { type Billing, isProration, type Period } from './paid-periods.ts';
import type { Invoice, Price, Subscription } from './payloads.ts';
import { getPriceId, isCredit, type Line } from './subscription-items.ts';

/** A price for a whole period, in the currency's smallest unit. */
interface PeriodPrice {
  readonly amount: number;
  readonly period: BillingPeriod;
}

interface PlanContext {
  readonly billings: readonly Billing[];
  readonly price: Price | undefined;
  /** Prices of `listProratedPriceIds` by id. */
  readonly prices: ReadonlyMap<string, Price> | undefined;
  /** A granted trial extends the period. */
  readonly isExtended: boolean;
}

/**
 * Returns what a whole period of the plan costs from a payment on, if the payment is another amount or for another
 * time: prorations, a credit, a fee on the same invoice. Includes discounts and taxes like the payment.
 */
export function findPlanPrice(billing: Billing, context: PlanContext): PlanPrice | undefined {
  const { kind, line, share } = billing;
  if (!line || (kind !== 'period' && kind !== 'change')) return undefined;
  const whole = listWholeLines(context.billings);
  const isProrated = isProration(line);
  const { currency } = share.invoice;
  const net = isProrated
    ? findProratedPrice(line, { ...context, whole, currency })
    : { amount: getNetAmount(line), period: toPeriodLength(line.period) };
  if (!net) return undefined;
  const owed = Math.round(net.amount * computeOwedPart(share.invoice));
  const { amount, tax } = addTax(owed, isProrated ? findTaxLine(line, whole) : line);
  if (!isProrated && amount === share.amount && !context.isExtended) return undefined;
  return {
    amountMicros: toMicros(amount, currency),
    ...(share.tax !== undefined && { taxMicros: toMicros(tax, currency) }),
    period: net.period,
  };
}

/**
 * Computes the part of its charges that an invoice demands. A credit note before the payment forgives the other part,
 * like a discount. A balance pays a part, and so does the credit of a former plan: if nothing more is demanded for a
 * change, the subscription still has the price of the former plan.
 */
function computeOwedPart({ lines, pre_payment_credit_notes_amount: forgiven }: Invoice): number {
  const charged = sumTotals(lines.data.filter((line) => !isCredit(line)));
  return charged > 0 ? Math.max(0, 1 - (forgiven ?? 0) / charged) : 1;
}

interface ProratedContext extends Pick<PlanContext, 'price' | 'prices'> {
  readonly whole: readonly Line[];
  readonly currency: string;
}

/**
 * Lists the prices of prorations that are neither current nor billed for a whole period: the charge for the rest of a
 * period is rounded, and does not show the price to the cent. A current price of another currency is among them, and a
 * former one with another quantity: it can have tiers or be for a package.
 */
export function listProratedPriceIds({ items, currency }: Subscription, invoices: readonly Invoice[]): string[] {
  const charges = invoices.flatMap((invoice) => invoice.lines.data).filter(({ amount }) => amount > 0);
  const whole = charges.filter((line) => !isProration(line));
  const current = items.data.filter(({ price }) => price.currency === (currency ?? price.currency));
  const isKnown = (line: Line): boolean =>
    current.some(({ price }) => price.id === getPriceId(line)) ||
    whole.some((other) => getPriceId(other) === getPriceId(line) && other.quantity === line.quantity);
  const prorated = charges.filter((line) => isProration(line) && !isKnown(line)).map(getPriceId);
  return [...new Set(prorated)].filter((id) => id !== '');
}

/** Computes the price of a whole period from the charge for the rest of one, without the taxes on top of it. */
function findProratedPrice(line: Line, { whole, price, prices, currency }: ProratedContext): PeriodPrice | undefined {
  if (line.amount <= 0) return undefined;
  const { start, end } = line.period;
  const around = whole.findLast(({ period }) => period.start <= start && period.end >= end);
  const current = prices?.get(getPriceId(line)) ?? price;
  const unit = hasPartOfPrice(line, { current, around })
    ? undefined
    : findUnitPrice(line, whole, { price: current, currency });
  if (unit) {
    const count = countUnits(line.quantity ?? 1, unit.package);
    const afterDiscounts = getNetAmount(line) / line.amount;
    return { amount: Math.round(unit.amount * count * afterDiscounts), period: unit.period };
  }
  if (!around) return undefined;
  const scale = (around.period.end - around.period.start) / (end - start);
  return { amount: Math.round(getNetAmount(line) * scale), period: toPeriodLength(around.period) };
}

/**
 * The amount of the proration includes the discount of the period, unless it is itemized, or the price has tiers: the
 * price of a unit does not determine the price of a period.
 * @see https://docs.stripe.com/changelog/clover/2025-09-30/itemize-proration-discount-amounts
 * @see https://docs.stripe.com/api/prices/object#price_object-tiers_mode
 */
function hasPartOfPrice(
  line: Line,
  { current, around }: { readonly current: Price | undefined; readonly around: Line | undefined },
): boolean {
  if (current?.id === getPriceId(line) && current.tiers_mode) return true;
  return around !== undefined && line.discount_amounts.length === 0 && getNetAmount(around) < around.amount;
}

/**
 * Finds the largest line with the tax rates of a prorated line. The tax of a line is rounded, and the tax of a whole
 * period would have many times the difference.
 */
function findTaxLine(line: Line, whole: readonly Line[]): Line {
  const rates = listTaxRates(line);
  const sameTaxed = whole.filter((other) => listTaxRates(other) === rates);
  return sameTaxed.reduce((largest, other) => (getNetAmount(other) > getNetAmount(largest) ? other : largest), line);
}

const listTaxRates = ({ taxes }: Line): string =>
  taxes
    .map(({ tax_rate_details, tax_behavior }) => `${tax_rate_details?.tax_rate} ${tax_behavior}`)
    .sort()
    .join();

/** Adds the taxes that an amount does not include, in the proportion of a line. `tax` includes those that it does. */
function addTax(net: number, line: Line): { readonly amount: number; readonly tax: number } {
  const base = getNetAmount(line);
  const [added, included] = (['exclusive', 'inclusive'] as const).map((behavior) =>
    base > 0 ? Math.round((net * sumTaxes(line, behavior)) / base) : 0,
  ) as [number, number];
  return { amount: net + added, tax: added + included };
}

/** Lists the lines of whole periods. */
export const listWholeLines = (billings: readonly Billing[]): Line[] =>
  billings.flatMap(({ kind, line }) => (kind === 'period' && line && !isProration(line) ? line : []));

interface UnitPrice extends PeriodPrice {
  /** The unit is a package of several. */
  readonly package?: Price['transform_quantity'];
}

/**
 * Finds the price of a unit from the current price, or from a whole period that was billed for the same price. A trial
 * is billed without a price.
 */
export function findUnitPrice(
  line: Line,
  whole: readonly Line[],
  { price, currency }: { readonly price: Price | undefined; readonly currency: string },
): UnitPrice | undefined {
  const priceId = getPriceId(line);
  const amount = price?.id === priceId ? getUnitAmount(price, currency) : null;
  if (price?.recurring && amount !== null) {
    const { interval, interval_count } = price.recurring;
    const unit = interval.slice(0, 1).toUpperCase();
    return { amount, period: `P${interval_count}${unit}`, package: price.transform_quantity };
  }
  // The first tier of a price can have a fee without a unit.
  const same = whole.find((other) => getPriceId(other) === priceId && other.amount > 0 && other.quantity !== 0);
  return same && { amount: same.amount / (same.quantity ?? 1), period: toPeriodLength(same.period) };
}

/** @see https://docs.stripe.com/api/prices/object#price_object-currency_options */
const getUnitAmount = (price: Price, currency: string): number | null =>
  price.currency === currency ? price.unit_amount : (price.currency_options?.[currency]?.unit_amount ?? null);

/** @see https://docs.stripe.com/api/prices/object#price_object-transform_quantity */
function countUnits(quantity: number, transformation: UnitPrice['package']): number {
  if (!transformation) return quantity;
  const count = quantity / transformation.divide_by;
  return transformation.round === 'down' ? Math.floor(count) : Math.ceil(count);
}

const toPeriodLength = ({ start, end }: Period): BillingPeriod => toBillingPeriod(toMillis(start), toMillis(end));
