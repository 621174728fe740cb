import type { StoreDefinition } from './emulated-store.ts';
import { processorA, serviceProcessorA } from './processor-a/processor-a.ts';
import { processorB } from './processor-b/processor-b.ts';
import { storeA } from './store-a/store-a.ts';
import { storeB } from './store-b/store-b.ts';
import { storeC } from './store-c/store-c.ts';

/** Registry of the emulated stores. */
export const storeDefinitions: readonly StoreDefinition[] = [
  storeA,
  storeB,
  storeC,
  processorA,
  processorB,
  serviceProcessorA,
];
