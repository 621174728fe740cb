import { toNullableIso } from '../../lib/foundation/time.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { resolveMergedName } from '../../lib/purchases/user-alias-table.ts';
import { setRefundConsent } from '../../lib/refunds/contract.ts';
import { saveRefundConsent } from '../../lib/refunds/refund-request-table.ts';

export const handler = createHandler(setRefundConsent)(async ({ app, params, body: { consented } }, service) => {
  const applicationUsername = await resolveMergedName(service, app.name, params.applicationUsername);
  const consentedAt = consented ? service.now() : undefined;
  await saveRefundConsent(service, app.name, applicationUsername, consentedAt);
  return { applicationUsername, consentedAt: toNullableIso(consentedAt) };
});
