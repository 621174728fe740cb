import { platformTokens, withoutPlatform } from '../foundation/platform.ts';
import type { Transaction } from '../purchases/transaction.ts';

/**
 * Lists the products, without prefix, whose free trial or introductory price the transactions have used. A plan change
 * keeps the product of the trial.
 */
export const listUsedTrials = (transactions: readonly Transaction[]): string[] => [
  ...new Set(transactions.filter(usedIntroPrice).map(({ productId }) => withoutPlatform(productId))),
];

/** At the App Store, offers with an id are promotional: customers keep their introductory price. */
const usedIntroPrice = ({ isTrialPeriod, isIntroPeriod, platform, offerId }: Transaction): boolean =>
  (isTrialPeriod === true || isIntroPeriod === true) && (platform !== platformTokens.appStore || offerId === undefined);
