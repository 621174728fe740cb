import { spend } from '../../lib/credits/change-credits.ts';
import { spendCredits } from '../../lib/credits/contract.ts';
import { toCreditChange } from '../../lib/credits/to-records.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(spendCredits)(
  async ({ app, key, recorder: { eventId }, params: { applicationUsername }, body }, service) => {
    const { sandbox: isSandbox = false, ...request } = body;
    const context = { appName: app.name, username: applicationUsername, isSandbox, key, eventId };
    return toCreditChange(await spend(service, request, context));
  },
);
