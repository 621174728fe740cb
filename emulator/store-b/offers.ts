import type { Order } from '../orders.ts';
import { refusal } from '../refusal.ts';
import { periodOf } from './catalogue.ts';
import type { Phase, Product } from './records.ts';

/** A first period at other terms than the later ones. */
interface Offer {
  readonly phase: Phase;
  readonly offerId?: string;
  readonly period: string;
  readonly amountMicros: number;
}

/** The terms on which the order's first period is sold. */
export function offerOf(product: Product, { trial, intro }: Pick<Order, 'trial' | 'intro'>): Offer {
  const period = periodOf(product);
  if (trial && intro) throw refusal(422, 'A purchase starts with a trial or with an intro, not with both.');
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
