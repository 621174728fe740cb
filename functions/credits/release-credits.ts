import { endHold } from '../../lib/credits/change-credits.ts';
import { releaseCredits } from '../../lib/credits/contract.ts';
import { toCreditChange } from '../../lib/credits/to-records.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(releaseCredits)(
  async ({ app, key, recorder: { eventId }, params, body }, service) => {
    const { applicationUsername: username, holdId } = params;
    const context = { appName: app.name, username, isSandbox: body.sandbox ?? false, key, eventId };
    return toCreditChange(await endHold(service, { holdId, amount: 0 }, context));
  },
);
