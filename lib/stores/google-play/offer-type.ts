import type { LineItem, OrderItem } from './payloads.ts';

/** Returns the kind of offer that the current period of an item has, in Google's terms. Undefined at the base price. */
export function toOfferType({ offerPhase = {} }: LineItem): string | undefined {
  const { freeTrial, introductoryPrice, prorationPeriod } = offerPhase;
  return selectOfferType(freeTrial, introductoryPrice, prorationPeriod);
}

/** Returns the kind of offer that a line of an order paid for. */
export function toPastOfferType({ offerPhaseDetails = {} }: NonNullable<OrderItem['subscriptionDetails']>) {
  const { freeTrialDetails, introductoryPriceDetails, prorationPeriodDetails } = offerPhaseDetails;
  return selectOfferType(freeTrialDetails, introductoryPriceDetails, prorationPeriodDetails);
}

function selectOfferType(freeTrial: unknown, introductoryPrice: unknown, prorationPeriod: unknown): string | undefined {
  if (freeTrial) return 'freeTrial';
  if (introductoryPrice) return 'introductoryPrice';
  return prorationPeriod ? 'prorationPeriod' : undefined;
}
