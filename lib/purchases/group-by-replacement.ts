import type { Observation } from './observation.ts';

/**
 * Groups observations in the order of recording: a replaced purchase before the one that replaces it, which continues
 * the claims and the figures of the stored one.
 */
export function groupByReplacement(observations: readonly Observation[]): readonly (readonly Observation[])[] {
  const ids = new Set(observations.map(({ purchase }) => purchase.purchaseId));
  const isSuccessor = ({ replacedPurchaseId }: Observation): boolean => ids.has(replacedPurchaseId ?? '');
  const first = observations.filter((observation) => !isSuccessor(observation));
  if (first.length === 0 || first.length === observations.length) return [observations];
  return [first, ...groupByReplacement(observations.filter(isSuccessor))];
}
