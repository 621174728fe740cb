import { omitUndefined } from '../../foundation/omit-undefined.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { findLine } from './order-lines.ts';
import type { LineItem, Order, OrderItem } from './payloads.ts';

/** The offer of a payment. `offerType` is in Google's terms, and absent at the base price. */
type PaidPhase = Pick<Transaction, 'isTrialPeriod' | 'isIntroPeriod' | 'offerType'>;

/**
 * Returns the offer of the latest payment: of its order, otherwise as it was stored first. The item has the current
 * phase, which belongs to the next payment while a renewal is declined.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#OfferPhase
 */
export function findPaidPhase(
  { productId, offerPhase = {} }: LineItem,
  { order, stored }: { readonly order: Order | undefined; readonly stored: Transaction | undefined },
): PaidPhase {
  const details = order && findLine(order, productId)?.subscriptionDetails;
  if (details?.offerPhaseDetails) return toPastPhase(details);
  if (stored) {
    const { isTrialPeriod, isIntroPeriod, offerType } = stored;
    return omitUndefined({ isTrialPeriod, isIntroPeriod, offerType });
  }
  const { freeTrial, introductoryPrice, prorationPeriod } = offerPhase;
  return toPhase(freeTrial, introductoryPrice, prorationPeriod);
}

/** Returns the offer that a line of an order paid for. */
export function toPastPhase({ offerPhaseDetails = {} }: NonNullable<OrderItem['subscriptionDetails']>): PaidPhase {
  const { freeTrialDetails, introductoryPriceDetails, prorationPeriodDetails } = offerPhaseDetails;
  return toPhase(freeTrialDetails, introductoryPriceDetails, prorationPeriodDetails);
}

function toPhase(freeTrial: unknown, introductoryPrice: unknown, prorationPeriod: unknown): PaidPhase {
  if (freeTrial) return { isTrialPeriod: true, offerType: 'freeTrial' };
  if (introductoryPrice) return { isIntroPeriod: true, offerType: 'introductoryPrice' };
  return prorationPeriod ? { offerType: 'prorationPeriod' } : {};
}
