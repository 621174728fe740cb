import type { Transaction } from '../purchases/transaction.ts';
import { withoutPlatform } from '../shared/platform.ts';

/**
 * Lists the products, without prefix, whose free trial or introductory price the transactions have used. A plan change keeps the
 * product of the trial.
 */
export const listUsedTrials = (transactions: readonly Transaction[]): string[] => [
  ...new Set(transactions.filter(usedIntroPrice).map(({ productId }) => withoutPlatform(productId))),
];

/** At store_a, offers with an id are promotional: customers keep their introductory price. */
const usedIntroPrice = ({ isTrialPeriod, isIntroPeriod, platform, offerId }: Transaction): boolean =>
  (isTrialPeriod === true || isIntroPeriod === true) && (platform !== 'store_a' || offerId === undefined);
