/** Kinds of offers of the App Store that an app's server signs. */
export const offerKinds = ['promotional', 'promotional-v1', 'introductory', 'advanced-commerce'] as const;
export type OfferKind = (typeof offerKinds)[number];
