import { toNullableIso } from '../../lib/foundation/time.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { setRefundConsent as contract } from '../../lib/refunds/contract.ts';
import { setRefundConsent } from '../../lib/refunds/refund-request-table.ts';

export const handler = createHandler(contract)(
  async ({ app, params: { applicationUsername }, body: { consented } }, service) => {
    const consentedAt = consented ? service.now() : undefined;
    await setRefundConsent(service, app.name, applicationUsername, consentedAt);
    return { applicationUsername, consentedAt: toNullableIso(consentedAt) };
  },
);
