import type { Platform } from '../shared/platform.ts';
import type { Store } from './store.ts';

/**
 * Loaders of all adapters. An adapter is imported at its first use, which keeps the cold start of functions that use only one
 * store short.
 */
export const stores: Readonly<Record<Platform, () => Promise<Store>>> = {
  store_a: async () => (await import('./app-store/app-store.ts')).appStore,
  store_b: async () => (await import('./google-play/google-play.ts')).googlePlay,
  store_c: async () => (await import('./microsoft-store/microsoft-store.ts')).microsoftStore,
  processor_a: async () => (await import('./stripe/stripe.ts')).stripe,
  service_processor_a: async () => (await import('./stripe/stripe.ts')).serviceStripe,
  processor_b: async () => (await import('./braintree/braintree.ts')).braintree,
};
