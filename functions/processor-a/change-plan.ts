import { changePlan } from '../../lib/api/processor-a.ts';
import { changeSubscriptionPlan } from '../../lib/checkout/change-subscription-plan.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(changePlan)(async ({ app, body, recorder }, deps) => ({
  ok: true,
  ...(await changeSubscriptionPlan(body, { app, recorder, deps })),
}));
