import * as v from 'valibot';

/**
 * Tokens of the specification for the stores and payment processors. Requests, responses, options and stored data
 * contain them.
 */
export const platformTokens = {
  appStore: 'store_a',
  googlePlay: 'store_b',
  microsoftStore: 'store_c',
  stripe: 'processor_a',
  /** The Stripe account of the deployment, which sells for several apps. */
  serviceStripe: 'service_processor_a',
  braintree: 'processor_b',
} as const;

export const platforms = [
  platformTokens.appStore,
  platformTokens.googlePlay,
  platformTokens.microsoftStore,
  platformTokens.stripe,
  platformTokens.serviceStripe,
  platformTokens.braintree,
] as const;

export const Platform = v.picklist(platforms);
export type Platform = v.InferOutput<typeof Platform>;

/** Names of the stores at the start of a sentence, such as an error message. */
export const storeNames: Readonly<Record<Platform, string>> = {
  [platformTokens.appStore]: 'The App Store',
  [platformTokens.googlePlay]: 'Google Play',
  [platformTokens.microsoftStore]: 'The Microsoft Store',
  [platformTokens.stripe]: 'Stripe',
  [platformTokens.serviceStripe]: 'Stripe',
  [platformTokens.braintree]: 'Braintree',
};

/** Returns `{platform}:{id}`, the format of ids in v3 records. */
export const withPlatform = (platform: Platform, id: string): string => `${platform}:${id}`;

/** Removes the platform prefix; v1 responses have ids without it. */
export const withoutPlatform = (prefixedId: string): string => prefixedId.slice(prefixedId.indexOf(':') + 1);
