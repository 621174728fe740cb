import { changeSubscriptionPlan } from '../../lib/checkout/change-subscription-plan.ts';
import { changePlan } from '../../lib/checkout/contract.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(changePlan)(async ({ app, body, recorder }, service) => ({
  ok: true,
  ...(await changeSubscriptionPlan({ app, recorder, service }, body)),
}));
