import type { Platform } from '../shared/platform.ts';
import type { Store } from './store.ts';

/**
 * Loaders of all adapters. An adapter is imported at its first use, which keeps the cold start of functions that use only one
 * store short.
 */
export const stores: Readonly<Record<Platform, () => Promise<Store>>> = {
  store_a: async () => (await import('./store-a/store-a.ts')).storeA,
  store_b: async () => (await import('./store-b/store-b.ts')).storeB,
  store_c: async () => (await import('./store-c/store-c.ts')).storeC,
  processor_a: async () => (await import('./processor-a/processor-a.ts')).processorA,
  service_processor_a: async () => (await import('./processor-a/processor-a.ts')).serviceProcessorA,
  processor_b: async () => (await import('./processor-b/processor-b.ts')).processorB,
};
