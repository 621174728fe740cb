import type { AppRepository } from '../apps/app-repository.ts';
import type { PurchaseRepository } from '../purchases/purchase-repository.ts';
import { RefundRequest } from '../refunds/refund-request.ts';
import { parse } from '../shared/parse.ts';
import { toShortDigest } from '../shared/short-digest.ts';
import { computeFromRecord } from '../shared/stream-failure.ts';
import type { StreamRecord } from '../shared/stream-record.ts';
import type { EpochMillis } from '../shared/time.ts';
import { buildDelivery, type WebhookDelivery } from './delivery.ts';
import { selectWebhookUrls } from './select-webhook-urls.ts';

interface RefundDeps {
  readonly findApp: AppRepository['find'];
  readonly purchases: Pick<PurchaseRepository, 'find'>;
  now(): EpochMillis;
}

/** Builds the deliveries of a new refund request. None for an app that has not switched them on. */
export async function buildRefundDeliveries(
  { appName, before, after }: StreamRecord,
  { findApp, purchases, now }: RefundDeps,
): Promise<readonly WebhookDelivery[]> {
  const request = computeFromRecord(() => (before ? undefined : after && parse(RefundRequest, after, 'InternalError')));
  if (!request || request.outcome) return [];
  const app = await findApp(appName);
  if (!app?.webhookSettings?.events?.includes('refunds')) return [];
  const { requestId, platform, purchaseId, transactionId, reason, requestedAt, deadline } = request;
  const stored = await purchases.find(appName, purchaseId);
  const [username] = stored?.entitledUsers ?? [];
  const urls = selectWebhookUrls(app, stored?.purchase.sandbox ?? request.sandbox);
  const notification = {
    id: toShortDigest(`${appName}\n${requestId}`),
    reason: 'OTHER',
    date: requestedAt,
    purchaseId,
    transactionId,
  } as const;
  return urls.map((url) =>
    buildDelivery({
      appName,
      type: 'refund.requested',
      url,
      ...(username !== undefined && { username }),
      notification,
      refundRequest: { id: requestId, platform, reason, deadline },
      createdAt: now(),
    }),
  );
}
