import { Grant, isGrantActive } from '../entitlements/grant.ts';
import { findGrant } from '../entitlements/grant-table.ts';
import { toShortDigest } from '../foundation/key.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import { computeFromRecord } from '../foundation/stream-failure.ts';
import type { ItemChange } from '../foundation/stream-record.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import type { WebhookDelivery } from './delivery.ts';
import { buildForUrls, type FindApp, selectWebhookUrls } from './select-webhook-urls.ts';

/**
 * Builds the deliveries of a new version of a grant. None for a grant that was deleted since: its customer has been
 * erased.
 */
export async function buildGrantDeliveries(
  service: Service,
  { appName, before, after }: ItemChange,
  findApp: FindApp,
): Promise<readonly WebhookDelivery[]> {
  const previous = computeFromRecord(() => before && parse(Grant, before, 'InternalError'));
  const grant = computeFromRecord(() => after && parse(Grant, after, 'InternalError'));
  if (!grant || grant.version === previous?.version || isMoveOfEndedGrant(previous, grant, service.now())) return [];
  const { grantId, username, entitlement, version } = grant;
  const app = await findApp(appName);
  const hasUrl = app && selectWebhookUrls(app, false).length > 0;
  if (!hasUrl || !(await findGrant(service, appName, { username, grantId }))) return [];
  const notification = {
    id: toShortDigest(`${appName}\n${username}\n${grantId}\n${version}`),
    reason: chooseReason(previous, grant),
    date: toChangeDate(previous, grant),
  };
  // The end of a grant, and a move, have no event.
  const eventId = grant.eventId === previous?.eventId ? undefined : grant.eventId;
  return buildForUrls(app, false, {
    type: 'purchases.updated',
    username,
    entitlement,
    notification,
    createdAt: service.now(),
    ...omitUndefined({ eventId }),
  });
}

/** The grant had ended before it moved between customers, so no access changes. */
function isMoveOfEndedGrant(before: Grant | undefined, after: Grant, now: EpochMillis): boolean {
  const { movedAt: _movedAt, ...moved } = after;
  const isMove = after.movedAt !== before?.movedAt || after.receivedAt !== before?.receivedAt;
  return isMove && !isGrantActive(moved, now);
}

function toChangeDate(before: Grant | undefined, after: Grant): EpochMillis {
  if (after.movedAt !== before?.movedAt && after.movedAt !== undefined) return after.movedAt;
  if (after.receivedAt !== before?.receivedAt && after.receivedAt !== undefined) return after.receivedAt;
  return after.revokedAt ?? after.endAnnouncedAt ?? after.changedAt ?? after.createdAt;
}

/** The end of a grant has the reason of the end of a purchase. The specification lacks one for its start. */
function chooseReason(before: Grant | undefined, after: Grant): NotificationReason {
  if (after.movedAt !== before?.movedAt || after.receivedAt !== before?.receivedAt) return 'OTHER';
  if (after.revokedAt !== undefined) return 'REVOKED';
  if (after.endAnnouncedAt !== undefined) return 'EXPIRED';
  const { until = Number.POSITIVE_INFINITY } = after;
  return before && until > (before.until ?? Number.POSITIVE_INFINITY) ? 'EXTENDED' : 'OTHER';
}
