import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { EntitlementRecord, getCustomerEntitlements } from '../../../lib/entitlements/contract.ts';

/** An entitlement as the page of a customer shows it. */
export interface DescribedEntitlement {
  readonly name: string;
  readonly state: 'Active' | 'In grace period' | 'Not active';
  readonly entitlement: EntitlementRecord;
}

/** Lists the entitlements of a response with the states that the page of the customer shows. */
export const listEntitlements = ({
  entitlements,
}: ContractResponse<typeof getCustomerEntitlements>): readonly DescribedEntitlement[] =>
  Object.entries(entitlements).map(([name, entitlement]) => ({ name, state: describeState(entitlement), entitlement }));

function describeState({ isActive, isInGracePeriod }: EntitlementRecord): DescribedEntitlement['state'] {
  if (!isActive) return 'Not active';
  return isInGracePeriod ? 'In grace period' : 'Active';
}
