import { authorizeReader } from '../../lib/checkout/list-checkout-purchases.ts';
import { getCustomerCredits } from '../../lib/credits/contract.ts';
import { findAccount } from '../../lib/credits/credit-table.ts';
import { toCreditRecords } from '../../lib/credits/to-records.ts';
import { toIso } from '../../lib/foundation/time.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(getCustomerCredits)(async ({ app, key, params, query, recorder }, service) => {
  const { applicationUsername } = params;
  await authorizeReader({ app, recorder, service }, query.accessToken, { key, username: applicationUsername });
  const isSandbox = query.sandbox === 'true';
  const account = await findAccount(service, app.name, { username: applicationUsername, isSandbox });
  const now = service.now();
  return { applicationUsername, isSandbox, credits: toCreditRecords(account, now), asOf: toIso(now) };
});
