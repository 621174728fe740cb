import type { StoreContext, StoreFetch } from '../store-context.ts';
import { type BudgetedCalls, withTimeBudget } from '../time-budget.ts';
import { storeName } from './api-errors.ts';
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

/** Time for all calls of one operation that a client waits for. */
export const defaultBudgetMs = 11_000;

const maxCallMs = 5_000;

/** Creates a fetch whose calls to Microsoft share a time budget. */
export const withRequestBudget = (calls: BudgetedCalls, budgetMs = defaultBudgetMs): StoreFetch =>
  withTimeBudget(calls, { totalMs: budgetMs, maxCallMs, storeName });
