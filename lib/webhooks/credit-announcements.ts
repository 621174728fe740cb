import { CreditEntry } from '../credits/credit-entry.ts';
import { findEntry } from '../credits/credit-table.ts';
import { toCreditEntryRecord } from '../credits/to-records.ts';
import { toShortDigest } from '../foundation/key.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import { computeFromRecord } from '../foundation/stream-failure.ts';
import type { ItemChange } from '../foundation/stream-record.ts';
import type { WebhookDelivery } from './delivery.ts';
import { buildForUrls, type FindApp } from './select-webhook-urls.ts';

/**
 * Builds the deliveries of a change of credits. None for an app that has not switched them on, for units that another
 * customer has, or for an entry that was deleted since: its customer has been erased. The worker receives only the
 * types of `announcedEntryTypes`.
 */
export async function buildCreditDeliveries(
  service: Service,
  { appName, before, after }: ItemChange,
  findApp: FindApp,
): Promise<readonly WebhookDelivery[]> {
  const entry = computeFromRecord(() => (before ? undefined : after && parse(CreditEntry, after, 'InternalError')));
  if (!entry || entry.isForwarded) return [];
  const app = await findApp(appName);
  if (!app?.webhookSettings?.events?.includes('credits') || !(await findEntry(service, appName, entry))) return [];
  const { entryId, username, isSandbox, at, purchaseId, transactionId, eventId } = entry;
  const notification = {
    id: toShortDigest(`${appName}\n${username}\n${entryId}`),
    reason: 'OTHER',
    date: at,
    ...omitUndefined({ purchaseId, transactionId }),
  } as const;
  return buildForUrls(app, isSandbox, {
    type: 'credits.updated',
    username,
    notification,
    creditEntry: { isSandbox, ...toCreditEntryRecord(entry) },
    createdAt: service.now(),
    ...omitUndefined({ eventId }),
  });
}
