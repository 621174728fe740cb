import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { refundRequests } from '../../composition/refund-requests.ts';
import { setRefundConsent } from '../../lib/api/refund-requests.ts';

export const handler = createHandler(setRefundConsent, () => ({ now, refundRequests: refundRequests() }))(
  async ({ app, params: { applicationUsername }, body: { consented } }, deps) => {
    const consentedAt = consented ? deps.now() : undefined;
    await deps.refundRequests.setConsent(app.name, applicationUsername, consentedAt);
    return { applicationUsername, consentedAt: consentedAt === undefined ? null : new Date(consentedAt).toISOString() };
  },
);
