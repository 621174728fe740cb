import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Recording } from '../cli/prove/recording.ts';
import { updateApp } from '../lib/apps/app-table.ts';
import { getApp } from '../lib/apps/manage-apps.ts';
import { getService } from '../lib/foundation/get-service.ts';
import { parse } from '../lib/foundation/parse.ts';
import { Platform } from '../lib/foundation/platform.ts';
import { importRow } from '../lib/import/import-row.ts';
import { findPurchase } from '../lib/purchases/purchase-table.ts';
import { toPurchaseDetails } from '../lib/purchases/to-records.ts';
import { refreshPurchase } from '../lib/refresh/refresh-purchase.ts';
import { processNotification } from '../lib/store-notifications/process-notification.ts';
import type { QueuedNotification } from '../lib/store-notifications/queued-notification.ts';
import { receiveNotification } from '../lib/store-notifications/receive-notification.ts';
import { type HttpServer, startHttpServer } from '../local/http-server.ts';
import { buildProxyEvent } from '../testing/proxy-event.ts';
import {
  createRecordedStores,
  type RecordedStores,
  signContent,
  toNotificationRequest,
} from '../testing/replay-recording.ts';
import { startTestService, type TestService } from '../testing/service.ts';

const folder = process.env.RECORDINGS ?? join(import.meta.dirname, 'recordings');
const recordings = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => [name, JSON.parse(readFileSync(join(folder, name), 'utf8')) as Recording] as const);

let service: TestService;
let stores: RecordedStores;
let server: HttpServer;
beforeAll(async () => {
  service = await startTestService();
  stores = createRecordedStores();
  server = await startHttpServer((request, response) => {
    const { status, body } = stores.respond(request.method ?? 'GET', new URL(request.url ?? '/', 'http://localhost'));
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  process.env.STORE_EMULATOR_URL = server.url;
});
afterAll(async () => {
  await server.close();
  await service.close();
});

/** Fields of a purchase that a replay has to reproduce. */
const comparedFields = [
  ...['productId', 'sandbox', 'isExpired', 'isBillingRetryPeriod', 'renewalIntent', 'cancelationReason'],
  ...['purchaseDate', 'lastRenewalDate', 'expirationDate', 'isTrialPeriod', 'isPaused', 'entitledUsers'],
] as const;
const pickCompared = (purchase: object): object =>
  Object.fromEntries(
    Object.entries(purchase).filter(([field]) => (comparedFields as readonly string[]).includes(field)),
  );

/** Replays the steps through the notification endpoint, the adapter and the repositories. */
async function replay(recording: Recording) {
  const platform = parse(Platform, recording.platform);
  const secrets = await service.callControl(`/settings/${platform}`);
  const { appName } = await service.createApp([platform], recording.settings);
  await updateApp(getService(), appName, () => ({ members: { strategy: recording.strategy as 'all' } }));
  const app = await getApp(getService(), appName);
  const { purchaseId } = recording;
  const refreshToken = signContent(recording.refreshToken) as Readonly<Record<string, string>>;
  const states: { readonly name: string; readonly state: object }[] = [];
  for (const [number, step] of recording.steps.entries()) {
    // A slow machine has passed the time of the next step, and data of an earlier time would be ignored.
    service.setTime(number === 0 ? step.at : Math.max(step.at, Date.now()));
    stores.setExchanges(step.exchanges);
    for (const [index, customer] of step.claimants.entries()) {
      const row = { platform, usernames: [customer], query: { refreshTokens: [refreshToken] }, evidence: purchaseId };
      await importRow(getService(), row as never, { app, line: index, isUnannounced: false, onStoreCall: () => {} });
    }
    for (const notification of step.notifications) {
      const request = toNotificationRequest(notification, recording, { ...secrets, ...recording.settings });
      if (request) await processRequest(appName, platform, request);
    }
    await refreshPurchase(getService(), { appName, purchaseId });
    const stored = await findPurchase(getService(), appName, purchaseId);
    if (!stored) throw new Error(`${step.name}: the purchase is missing.`);
    states.push({
      name: step.name,
      state: pickCompared(toPurchaseDetails(stored.purchase, stored.entitledUsers, { now: step.at })),
    });
  }
  return states;
}

async function processRequest(
  appName: string,
  platform: Platform,
  { body, buildHeaders }: NonNullable<ReturnType<typeof toNotificationRequest>>,
): Promise<void> {
  const queued: QueuedNotification[] = [];
  const queue = {
    send: async (messages: readonly object[]) => void queued.push(...(messages as readonly QueuedNotification[])),
  };
  const event = buildProxyEvent({
    httpMethod: 'POST',
    path: `/v3/webhook/${platform}/${appName}`,
    headers: buildHeaders(getService().now()),
    body,
  });
  const { statusCode } = await receiveNotification({ ...getService(), notificationQueue: queue }, event);
  expect(statusCode).toBe(200);
  for (const notification of queued)
    await processNotification({ ...getService(), notificationQueue: queue }, notification);
}

describe('Recordings of proofs', () => {
  it.each(recordings)('%s results in the recorded states', async (_name, recording) => {
    const states = await replay(recording);
    expect({ states, unanswered: stores.unanswered.splice(0) }).toEqual({
      states: recording.steps.map(({ name, purchase }) => ({ name, state: pickCompared(purchase) })),
      unanswered: [],
    });
  });
});
