import { toNullableIso } from '../../lib/foundation/time.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { setRefundConsent } from '../../lib/refunds/contract.ts';
import { saveRefundConsent } from '../../lib/refunds/refund-request-table.ts';

export const handler = createHandler(setRefundConsent)(
  async ({ app, params: { applicationUsername }, body: { consented } }, service) => {
    const consentedAt = consented ? service.now() : undefined;
    await saveRefundConsent(service, app.name, applicationUsername, consentedAt);
    return { applicationUsername, consentedAt: toNullableIso(consentedAt) };
  },
);
