import { controlError } from '../control-error.ts';
import type { Product } from '../product.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { getPeriod } from './catalogue.ts';
import type { Phase } from './records.ts';

/** Terms of the first period. */
interface Offer {
  readonly phase: Phase;
  readonly offerId?: string;
  readonly period: string;
  readonly amountMicros: number;
}

/** Selects the terms of the first period of an order. */
export function selectOffer(product: Product, { trial, intro }: Pick<PurchaseOrder, 'trial' | 'intro'>): Offer {
  const period = getPeriod(product);
  if (trial && intro) throw controlError(422, 'trial and intro cannot be combined.');
  if (trial) {
    return { phase: 'freeTrial', offerId: 'freetrial', period: trial === true ? period : trial, amountMicros: 0 };
  }
  if (intro) {
    const offer = intro === true ? { priceMicros: Math.floor(product.priceMicros / 2) } : intro;
    const terms = { period, ...offer };
    return { phase: 'introductoryPrice', offerId: 'intro', period: terms.period, amountMicros: offer.priceMicros };
  }
  return { phase: 'base', period, amountMicros: product.priceMicros };
}
