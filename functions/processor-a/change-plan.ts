import { changePlan } from '../../lib/api/processor-a.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { changeSubscriptionPlan } from '../../lib/checkout/change-subscription-plan.ts';

export const handler = createHandler(changePlan)(async ({ app, body, recorder: event }, deps) => ({
  ok: true,
  ...(await changeSubscriptionPlan(body, { app, recorder: event, deps })),
}));
