import type { EpochMillis } from '../../shared/time.ts';
import type { StoreContext, StoreFetch } from '../store-context.ts';
import { withRequestBudget } from './request-budget.ts';
import { parseStoredSettings, type StoreCSettings } from './settings.ts';

/** One conversation with Microsoft: as whom, and within how much time. */
export interface MicrosoftSession {
  readonly settings: StoreCSettings;
  readonly fetch: StoreFetch;
  readonly now: () => EpochMillis;
}

/** Opens the conversation. Throws `InvalidPayload` for an application without settings, `InternalError` for wrong ones. */
export const createSession = ({ settings, fetch, now }: StoreContext): MicrosoftSession => ({
  settings: parseStoredSettings(settings),
  fetch: withRequestBudget(fetch),
  now,
});
