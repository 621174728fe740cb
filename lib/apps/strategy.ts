import * as v from 'valibot';

/**
 * The entitlement strategies: all claimants, the first claimant, the claimant who validated last, or the one who
 * validated last while the purchase gave the current owner no access.
 */
export const strategies = ['all', 'first', 'last', 'last-if-inactive'] as const;
export const Strategy = v.picklist(strategies);
export type Strategy = v.InferOutput<typeof Strategy>;
