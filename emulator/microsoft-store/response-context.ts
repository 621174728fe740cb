import type { StoreResponseContext } from '../response-context.ts';
import type { Keys } from './keys.ts';
import type { StoreState } from './store-state.ts';

export type ResponseContext = StoreResponseContext<StoreState, Keys>;
