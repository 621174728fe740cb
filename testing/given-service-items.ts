import { storeWebhook } from '../lib/apps/app-table.ts';
import { takeTokens } from '../lib/apps/token-bucket-table.ts';
import { rotateTokenKeys } from '../lib/entitlements/token-key.ts';
import { updateTokenKeys } from '../lib/entitlements/token-key-table.ts';
import { createEventRecorder } from '../lib/events/event-recorder.ts';
import { saveEvent } from '../lib/events/event-table.ts';
import { finishExport, leaseExport, setExportSchedule } from '../lib/export/export-schedule-table.ts';
import { createForwards } from '../lib/forwards/create-forwards.ts';
import type { Service } from '../lib/foundation/service.ts';
import type { Table } from '../lib/foundation/table.ts';
import { minuteMs } from '../lib/foundation/time.ts';
import { saveRates } from '../lib/money/exchange-rates/exchange-rate-table.ts';
import { sendAlerts } from '../lib/problems/send-alerts.ts';
import { setAlertUrl } from '../lib/problems/set-alert-url.ts';
import { addErasedNames } from '../lib/purchases/erased-name-table.ts';
import { invalidatePriceList } from '../lib/purchases/price-list-table.ts';
import { recordPurchase } from '../lib/purchases/record-purchase.ts';
import { recordRefundOutcome } from '../lib/refunds/record-refund-request.ts';
import { writeMarkers } from '../lib/statistics/counted-until-table.ts';
import { incrementCounter } from '../lib/statistics/counter-table.ts';
import {
  markNotificationHandled,
  markNotificationsEnqueued,
} from '../lib/store-notifications/handled-notification-table.ts';
import { selectOperations } from '../lib/stores/operation-table.ts';
import { setAnnouncedCatalogue } from '../lib/webhooks/announce-catalogue.ts';
import { buildDelivery } from '../lib/webhooks/delivery.ts';
import { updateUrlHealth } from '../lib/webhooks/update-url-health.ts';
import { createService } from './create-service.ts';
import { createObservation } from './given.ts';

/** The app, which must have the data of `givenAppData`. The engine deletes expired items by the machine's clock. */
interface Context {
  readonly appName: string;
  readonly service: Service;
  readonly now: number;
}

const url = 'https://server.example.com/hook';

/** Stores the kinds of items that no data of a customer needs, with all their members, by the code that writes them. */
export async function givenServiceItems(table: Table, appName: string): Promise<void> {
  const now = Date.now();
  const context = { appName, service: createService(table, { now: () => now }), now };
  await givenApp(context);
  await givenWebhooks(context);
  await givenStores(context);
  await givenNotifications(context);
  await givenStatistics(context);
}

async function givenApp({ appName, service, now }: Context): Promise<void> {
  for (let rotation = 0; rotation < 2; rotation++)
    await updateTokenKeys(service, appName, (set) => rotateTokenKeys(set, { overlapMs: minuteMs, now }));
  await addErasedNames(service, appName, ['erased']);
  await takeTokens(service, { kind: 'app', value: appName }, { count: 1, now, size: { capacity: 2, msPerToken: 1 } });
  const schedule = { location: 's3://exports/app', createdAt: now };
  await setExportSchedule(service, appName, schedule);
  const until = now + minuteMs;
  for (const outcome of [{ startedAt: now, kind: 'full' }, { failure: 'The bucket does not exist.' }] as const) {
    await leaseExport(service, appName, schedule, { now, until });
    await finishExport(service, appName, until, outcome);
  }
  await leaseExport(service, appName, schedule, { now, until });
}

async function givenWebhooks({ appName, service, now }: Context): Promise<void> {
  await storeWebhook(service, appName, {
    settings: { urls: [url], sandboxUrls: [], includesPassword: true },
    createSecret: () => 'whsec_secret',
  });
  const notification = { id: 'n1', reason: 'RENEWED', date: now } as const;
  const delivery = buildDelivery({ appName, type: 'purchases.updated', url, notification, createdAt: now });
  const failure = { failure: 'no-connection', message: 'The server refused the connection.' } as const;
  await updateUrlHealth(service, delivery, { outcome: failure, urlHealth: {} });
  const gone = { ...delivery, url: `${url}/gone` };
  await updateUrlHealth(service, gone, { outcome: { status: 410, bodyExcerpt: '' }, urlHealth: {} });
  await setAlertUrl(service, appName, url);
  await sendAlerts({ ...service, postWebhook: async () => ({ status: 200, bodyExcerpt: 'ok' }) });
  const product = { type: 'paid subscription', billingPeriod: 'P1M', group: 'all', entitlements: ['all'] };
  const monthly = { ...product, credits: { coins: 1 }, expires: 'never' };
  const options = { wait: async () => {}, rate: 10 };
  await setAnnouncedCatalogue(service, appName, { monthly }, options);
  // The announcement stays stored until its webhooks are enqueued.
  const send = () => Promise.reject(new Error('The queue is unavailable.'));
  const after = { monthly: { ...monthly, entitlements: ['other'] } };
  await setAnnouncedCatalogue({ ...service, webhookQueue: { send } }, appName, after, options).catch(() => {});
}

async function givenStores({ appName, service, now }: Context): Promise<void> {
  const recorder = createEventRecorder({ type: 'receipt.validated', date: now });
  for (const status of [200, 503])
    recorder.addExternalCall({
      type: 'lookup',
      platform: 'store_a',
      url: 'https://api.storekit.itunes.apple.com',
      method: 'GET',
      response: { status, size: 1 },
      timing: { startedAt: now, endedAt: now },
    });
  const result = { request: { route: 'POST /v1/validate' }, outcome: { status: 200, ok: true }, response: {} };
  const { event, raw } = recorder.finish(result);
  await saveEvent(service, appName, event, raw);
  const { runOnce, storedResults } = selectOperations(service, appName, 'processor_b');
  await runOnce(
    'charge',
    async () => ({ id: 'charge' }),
    async () => undefined,
  );
  await storedResults.save('plans', { id: 'plans' });
  await invalidatePriceList(service, appName, 'processor_a', now);
  await saveRates(service, [{ date: '2026-01-01', perEuro: { USD: '1.1' } }]);
}

async function givenNotifications({ appName, service, now }: Context): Promise<void> {
  const key = { platform: 'store_a', key: 'notification' } as const;
  await markNotificationHandled(service, appName, key, now);
  await markNotificationsEnqueued(service, appName, [{ ...key, firstEnqueuedAt: now, lastEnqueuedAt: now }]);
  const observation = createObservation({ purchaseId: 'store_a:family' });
  const notificationPart = { ...key, isPartOfSeveral: true };
  const input = { trigger: 'notification', observation, notificationPart, strategy: 'all', now } as const;
  await recordPurchase(service, appName, 'store_a:family', input);
  await recordRefundOutcome(service, appName, { transactionId: 'store_a:1-1', outcome: 'declined' }, now);
  const content = { body: '{}', headers: { 'content-type': 'application/json' } };
  const times = { occurredAt: now, receivedAt: now };
  await createForwards(service, { appName, ...key, order: 'store_a:1', ...times, content });
}

/** More shards than the two parts of a counter have checkpoints. */
const shards = Array.from({ length: 60 }, (_, index) => `shard-${index}`);

async function givenStatistics({ appName, service, now }: Context): Promise<void> {
  await writeMarkers(service);
  const increment = { sequenceNumber: '1', writtenAt: now, counts: { requests: 1 } };
  for (const shard of shards)
    await incrementCounter(
      { ...service, counterParts: 2 },
      appName,
      { period: '2026-01' },
      { shard, increments: [increment] },
    );
}
