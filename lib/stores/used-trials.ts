import type { Observation } from '../purchases/observation.ts';
import { withoutPlatform } from '../shared/platform.ts';

/**
 * Lists the products, without prefix, whose free trial or introductory price the observed transactions have used. A plan change
 * keeps the product of the trial.
 */
export const listUsedTrials = (observations: readonly Pick<Observation, 'transactions'>[]): string[] => {
  const transactions = observations.flatMap((observation) => observation.transactions);
  const used = transactions.filter(({ isTrialPeriod, isIntroPeriod }) => isTrialPeriod || isIntroPeriod);
  return [...new Set(used.map(({ productId }) => withoutPlatform(productId)))];
};
