import { changePlan } from '../../lib/api/processor-a.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { switchPlan } from '../../lib/processor-a/plan.ts';

export const handler = endpoint(changePlan)(async ({ app, body, event }, deps) => ({
  ok: true,
  ...(await switchPlan(body, { app, event, deps })),
}));
