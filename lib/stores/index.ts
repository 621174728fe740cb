import { ServiceError } from '../foundation/errors.ts';
import { type Platform, platformTokens } from '../foundation/platform.ts';
import type { LoadStore, Store } from './store.ts';

/**
 * Loaders of all adapters. An adapter is imported at its first use, which keeps the cold start of functions that use
 * only one store short.
 */
export const stores: Readonly<Record<Platform, () => Promise<Store>>> = {
  [platformTokens.appStore]: async () => (await import('./app-store/app-store.ts')).appStore,
  [platformTokens.googlePlay]: async () => (await import('./google-play/google-play.ts')).googlePlay,
  [platformTokens.microsoftStore]: async () => (await import('./microsoft-store/microsoft-store.ts')).microsoftStore,
  [platformTokens.stripe]: async () => (await import('./stripe/stripe.ts')).stripe,
  [platformTokens.serviceStripe]: async () => (await import('./stripe/stripe.ts')).serviceStripe,
  [platformTokens.braintree]: async () => (await import('./braintree/braintree.ts')).braintree,
};

export const loadStore: LoadStore = async (platform) => {
  const load = stores[platform];
  if (!load) throw new ServiceError('InvalidPayload', `Purchases of ${platform} cannot be validated.`);
  return await load();
};
