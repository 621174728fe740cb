import { checkoutDeps } from '../../composition/checkout.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { changePlan } from '../../lib/api/stripe.ts';
import { changeSubscriptionPlan } from '../../lib/checkout/change-subscription-plan.ts';

export const handler = createHandler(
  changePlan,
  checkoutDeps,
)(async ({ app, body, recorder }, deps) => ({
  ok: true,
  ...(await changeSubscriptionPlan(body, { app, recorder, deps })),
}));
