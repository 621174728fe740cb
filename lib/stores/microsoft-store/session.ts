import type { StoreContext, StoreFetch } from '../store-context.ts';
import { withRequestBudget } from './request-budget.ts';
import { type MicrosoftStoreSettings, parseStoredSettings } from './settings.ts';

/** Parsed settings and time budget of one operation. */
export interface MicrosoftSession {
  readonly settings: MicrosoftStoreSettings;
  readonly fetch: StoreFetch;
  readonly now: StoreContext['now'];
}

/** Creates a session. Throws `InvalidPayload` for missing settings, `InternalError` for invalid ones. */
export const createSession = (
  { settings, fetch, now, stopwatch }: Pick<StoreContext, 'settings' | 'fetch' | 'now' | 'stopwatch'>,
  { budgetMs }: { readonly budgetMs?: number } = {},
): MicrosoftSession => ({
  settings: parseStoredSettings(settings),
  fetch: withRequestBudget({ fetch, stopwatch }, budgetMs),
  now,
});
