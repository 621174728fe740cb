import type { Observation } from '../../purchases/observation.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { parsePrice } from './mapping-context.ts';

/**
 * Estimates the amount of a subscription's payment by the latest price that a client reported. Only the validation of a
 * payment has its price: Microsoft does not report the amount of a renewal. Without a price, the amount is unknown.
 */
export function withEstimatedAmount(observation: Observation): Observation {
  const price = parsePrice(observation.refreshToken?.price);
  if (!price || observation.purchase.productType !== 'paid subscription') return observation;
  const estimate = (transaction: Transaction): Transaction =>
    transaction.amountMicros !== undefined
      ? transaction
      : {
          ...transaction,
          ...price,
          ...(transaction.isTrialPeriod && { amountMicros: 0 }),
          isReportedAmount: true,
          isEstimatedAmount: true,
        };
  return { ...observation, transactions: observation.transactions.map(estimate) };
}
