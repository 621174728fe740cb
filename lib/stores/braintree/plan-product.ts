import type { MappingContext } from './mapping-context.ts';

/**
 * Finds the product of a plan. Braintree and its control panel can change the plan of a subscription, without a
 * notification. The product of the purchase stays if the catalogue does not have one other product with the plan.
 * @see https://developer.paypal.com/braintree/docs/reference/request/subscription/update/node
 */
export function findPlanProduct(
  planId: string | undefined,
  { productId, planIds = {} }: Pick<MappingContext, 'productId' | 'planIds'>,
): string {
  if (planIds[productId] === planId) return productId;
  const [product = productId, ...others] = Object.keys(planIds).filter((id) => planIds[id] === planId);
  return others.length === 0 ? product : productId;
}
