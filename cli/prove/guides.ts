import { type Platform, platformTokens } from '../../lib/foundation/platform.ts';
import { appStoreGuide } from './guides/app-store.ts';
import { braintreeGuide } from './guides/braintree.ts';
import { googlePlayGuide } from './guides/google-play.ts';
import { microsoftStoreGuide } from './guides/microsoft-store.ts';
import { stripeGuide } from './guides/stripe.ts';
import type { ProofGuide } from './proof-step.ts';

export const guides: Readonly<Record<Platform, ProofGuide>> = {
  [platformTokens.appStore]: appStoreGuide,
  [platformTokens.googlePlay]: googlePlayGuide,
  [platformTokens.microsoftStore]: microsoftStoreGuide,
  [platformTokens.stripe]: stripeGuide,
  [platformTokens.serviceStripe]: stripeGuide,
  [platformTokens.braintree]: braintreeGuide,
};
