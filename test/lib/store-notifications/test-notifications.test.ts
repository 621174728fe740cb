import { describe, expect, it } from '@jest/globals';
import { getApp } from '../../../lib/apps/manage-apps.ts';
import { setStoreSettings } from '../../../lib/apps/store-settings-table.ts';
import { listEventPage, listEvents } from '../../../lib/events/event-list-table.ts';
import { listStoreActivities } from '../../../lib/events/store-activity-table.ts';
import { parse } from '../../../lib/foundation/parse.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import { checkNotifications, createEventList } from '../../../lib/health/check-notifications.ts';
import { recordPurchase } from '../../../lib/purchases/record-purchase.ts';
import { processNotification } from '../../../lib/store-notifications/process-notification.ts';
import { QueuedNotification } from '../../../lib/store-notifications/queued-notification.ts';
import { recoverSince, recoverUndelivered } from '../../../lib/store-notifications/recover-notifications.ts';
import { startHttpServer } from '../../../local/http-server.ts';
import { purchaseDate } from '../../../testing/apple-payloads.ts';
import { signJws } from '../../../testing/apple-signatures.ts';
import { createService } from '../../../testing/create-service.ts';
import { apiSettings, applePki } from '../../../testing/fake-apple.ts';
import { createObservation } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { buildValidationInput } from '../../../testing/purchase-inputs.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';
import { buildPayload } from '../stores/app-store/notification-fixture.ts';

const table = startBeforeAll(createTestTable);

/** An App Store that keeps a test notification and another one. */
const store = startBeforeAll(async () => {
  const notificationHistory = ['TEST', 'METADATA_UPDATE'].map((type) => ({
    signedPayload: signJws(buildPayload(type), applePki),
  }));
  return await startHttpServer(({ url }, response) => {
    const isSandbox = url?.includes('sandbox');
    response.end(JSON.stringify({ notificationHistory: isSandbox ? [] : notificationHistory, hasMore: false }));
  });
});

const maxMs = 900_000;

async function givenConnectedApp() {
  const { appName } = await givenApp(table);
  const sent: unknown[] = [];
  const service = createService(table, {
    now: () => purchaseDate + 120_000,
    emulator: { url: store.url, roots: [applePki.root.der] },
    notificationQueue: { send: async (messages) => void sent.push(...messages) },
  });
  await setStoreSettings(service, appName, 'store_a', apiSettings);
  return { appName, service, sent };
}

describe('recoverUndelivered', () => {
  it('leaves out test notifications, which prove nothing about the notification URL then', async () => {
    const { appName, service, sent } = await givenConnectedApp();
    await recoverUndelivered(service, [await getApp(service, appName)], () => maxMs);
    expect(sent).toMatchObject([{ notification: { type: 'METADATA_UPDATE' } }]);
  });
});

describe('recoverSince', () => {
  it('leaves out test notifications', async () => {
    const { appName, service } = await givenConnectedApp();
    const recoveries = await recoverSince(service, appName, { since: purchaseDate });
    expect(recoveries).toMatchObject([{ platform: 'store_a', processed: 1, failed: 0 }]);
    const events = await listEvents(service, appName, { limit: 10, skip: 0 });
    expect(events.map(({ content }) => content.notifications)).toMatchObject([[{ type: 'METADATA_UPDATE' }]]);
  });
});

describe('a recovered notification', () => {
  it.each(['recoverUndelivered', 'recoverSince'])('does not count as received after %s', async (recovery) => {
    const { appName, service, sent } = await givenConnectedApp();
    const purchaseId = 'store_a:1';
    const input = buildValidationInput('ann', createObservation({ purchaseId }));
    await recordPurchase(service, appName, purchaseId, { ...input, now: service.now() });
    if (recovery === 'recoverSince') await recoverSince(service, appName, { since: purchaseDate });
    else await recoverUndelivered(service, [await getApp(service, appName)], () => maxMs);
    for (const message of sent) await processNotification(service, parse(QueuedNotification, message));
    const { rows } = await listEventPage(service, appName, { limit: 10, includesReads: false });
    expect(rows.map(({ type }) => type)).toContain('webhook.store_a.recovered');
    expect(await listStoreActivities(service, appName)).not.toContainEqual(
      expect.objectContaining({ kind: 'notification' }),
    );
    // `notifications.reconciled` is a finding of its own for a day.
    const later = { ...service, now: () => purchaseDate + 2 * dayMs };
    const check = { app: appName, platform: 'store_a', url: 'https://api.example/hook' } as const;
    const findings = await checkNotifications(later, { ...check, listLatestEvents: createEventList(later, appName) });
    expect(findings).toMatchObject([{ code: 'notifications-never-received' }]);
  });
});
