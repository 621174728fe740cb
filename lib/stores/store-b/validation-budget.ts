import type { StoreContext } from '../store-context.ts';
import { defaultBudgetMs } from './play-api.ts';

/** For a validation and for what follows it, so that the client still hears of both. */
const totalMs = 18_000;

const deadlines = new WeakMap<StoreContext, number>();

/** Starts the clock of a validation. */
export const startValidationBudget = (context: StoreContext): void => {
  deadlines.set(context, performance.now() + totalMs);
};

/** How long Google may still be asked after that validation. */
export const getRemainingMs = (context: StoreContext): number =>
  Math.min(defaultBudgetMs, (deadlines.get(context) ?? Number.POSITIVE_INFINITY) - performance.now());
