import type { StoreDefinition } from './emulated-store.ts';
import { processorA } from './processor-a/processor-a.ts';
import { storeA } from './store-a/store-a.ts';
import { storeC } from './store-c/store-c.ts';

/** Every store that the emulator has. */
export const stores: readonly StoreDefinition[] = [storeA, storeC, processorA];
