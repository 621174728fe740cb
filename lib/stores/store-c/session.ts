import type { Millis } from '../../purchases/purchase.ts';
import type { Asking, StoreFetch } from '../store.ts';
import { promptly } from './deadline.ts';
import { type StoreCSettings, storeCSettings } from './settings.ts';

/** One conversation with Microsoft: as whom, and within how much time. */
export interface Session {
  readonly settings: StoreCSettings;
  readonly fetch: StoreFetch;
  readonly now: () => Millis;
}

/** Opens the conversation. Throws `InvalidPayload` for an application without settings, `InternalError` for wrong ones. */
export const sessionOf = ({ settings, fetch, now }: Asking): Session => ({
  settings: storeCSettings(settings),
  fetch: promptly(fetch),
  now,
});
