import { toShortDigest } from '../foundation/key.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import { computeFromRecord } from '../foundation/stream-failure.ts';
import type { ItemChange } from '../foundation/stream-record.ts';
import { findPurchase } from '../purchases/purchase-table.ts';
import { RefundRequest } from '../refunds/refund-request.ts';
import type { WebhookDelivery } from './delivery.ts';
import { buildForUrls, type FindApp } from './select-webhook-urls.ts';

/** Builds the deliveries of a new refund request. None for an app that has not switched them on. */
export async function buildRefundDeliveries(
  service: Service,
  { appName, before, after }: ItemChange,
  findApp: FindApp,
): Promise<readonly WebhookDelivery[]> {
  const request = computeFromRecord(() => (before ? undefined : after && parse(RefundRequest, after, 'InternalError')));
  if (!request || request.outcome) return [];
  const app = await findApp(appName);
  if (!app?.webhookSettings?.events?.includes('refunds')) return [];
  const { requestId, platform, purchaseId, transactionId, reason, requestedAt, deadline, eventId } = request;
  const stored = await findPurchase(service, appName, purchaseId);
  const [username] = stored?.entitledUsers ?? [];
  const notification = {
    id: toShortDigest(`${appName}\n${requestId}`),
    reason: 'OTHER',
    date: requestedAt,
    purchaseId,
    transactionId,
  } as const;
  return buildForUrls(app, stored?.purchase.sandbox ?? request.sandbox, {
    type: 'refund.requested',
    notification,
    refundRequest: { id: requestId, platform, reason, deadline },
    createdAt: service.now(),
    ...omitUndefined({ username, eventId }),
  });
}
