import type { Order, Purchase } from './records.ts';

/** Copies a purchase with the tax rate of an order or of the purchase that it replaces. */
export const withTaxRate = (purchase: Purchase, { taxRate }: { readonly taxRate?: number }): Purchase =>
  taxRate === undefined ? purchase : { ...purchase, taxRate };

/** Computes the tax that is added to an amount. */
export const computeTax = (micros: number, { taxRate = 0 }: Purchase): number => Math.round((micros * taxRate) / 100);

/** Computes the tax that an amount contains. */
export const getContainedTax = (micros: number, { taxRate = 0 }: Purchase): number =>
  Math.round((micros * taxRate) / (100 + taxRate));

/** Returns what the customer paid for an order, with the tax. */
export const getTotalMicros = ({ amountMicros }: Order, purchase: Purchase): number =>
  amountMicros + computeTax(amountMicros, purchase);
