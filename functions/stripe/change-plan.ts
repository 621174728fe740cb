import { changePlan } from '../../lib/api/stripe.ts';
import { changeSubscriptionPlan } from '../../lib/checkout/change-subscription-plan.ts';
import { checkoutProviders } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(
  changePlan,
  checkoutProviders,
)(async ({ app, body, recorder }, deps) => ({
  ok: true,
  ...(await changeSubscriptionPlan(body, { app, recorder, deps })),
}));
