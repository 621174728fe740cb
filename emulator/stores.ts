import type { StoreDefinition } from './emulated-store.ts';
import { storeA } from './store-a/store-a.ts';

/** Every store that the emulator has. */
export const stores: readonly StoreDefinition[] = [storeA];
