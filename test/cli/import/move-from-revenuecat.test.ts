import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRevenueCatValidator } from '../../../cli/compare/revenuecat-validator.ts';
import { runCompare } from '../../../cli/compare/run-compare.ts';
import type { Validator } from '../../../cli/compare/validator.ts';
import { CustomerPurchases, fromCustomerPurchases } from '../../../cli/compare/validator-result.ts';
import { convertRevenueCatProject } from '../../../cli/import/from/convert-revenuecat-project.ts';
import { importGrants } from '../../../cli/import/from/import-grants.ts';
import { defaultRates, type StoreRates } from '../../../cli/import/rate-limiter.ts';
import { runImport } from '../../../cli/import/run-import.ts';
import type { IssuedApiKeys } from '../../../lib/apps/manage-apps.ts';
import { getCustomerPurchases } from '../../../lib/customers/contract.ts';
import { listStoredGrants } from '../../../lib/entitlements/grant-table.ts';
import { getService } from '../../../lib/foundation/get-service.ts';
import { parse } from '../../../lib/foundation/parse.ts';
import { listAnnouncements } from '../../../lib/purchases/purchase-table.ts';
import { setForwards } from '../../../lib/webhooks/contract.ts';
import { callWithSecretKey } from '../../../testing/call.ts';
import { type NotificationServer, startNotificationServer } from '../../../testing/notification-server.ts';
import { type RequestRelay, startRequestRelay } from '../../../testing/request-relay.ts';
import { type RevenueCatReceiver, startRevenueCatReceiver } from '../../../testing/revenuecat-receiver.ts';
import {
  type RevenueCatStandIn,
  type StandInCustomer,
  startRevenueCatStandIn,
} from '../../../testing/revenuecat-stand-in.ts';
import { sampleRuns } from '../../../testing/sample.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';
import { startWorkQueues, type WorkQueues } from '../../../testing/work-queues.ts';

/** Customers of the rehearsal. */
const { numRuns: customerCount } = sampleRuns({ sample: 20, full: 2_000 });
const key = 'sk_test_0123456789';
const folder = mkdtempSync(join(tmpdir(), 'claimcheck-move-'));

let service: TestService;
let queues: WorkQueues;
let notifications: NotificationServer;

/** Push subscriptions of the topic of Google Play. */
let topic: RequestRelay;
let receiver: RevenueCatReceiver;
let keys: IssuedApiKeys;
let standIn: RevenueCatStandIn;

/** Purchases at the stores by customer. */
const bought = new Map<string, { readonly platform: 'store_a' | 'store_b'; readonly id: string }>();
let extraCustomers: readonly StandInCustomer[] = [];

beforeAll(async () => {
  service = await startTestService();
  queues = await startWorkQueues();
  notifications = await startNotificationServer();
  topic = await startRequestRelay();
  receiver = await startRevenueCatReceiver({ queryGooglePlay });
  keys = await service.createApp(['store_a', 'store_b']);
  await service.setNotificationUrl('store_a', `${receiver.url}/apple`);
  await service.setNotificationUrl('store_b', topic.url);
  topic.relayTo([`${receiver.url}/google`]);
  for (let index = 0; index < customerCount; index++) await buy(index);
  await service.waitUntilNotified();
  standIn = await startRevenueCatStandIn({
    key,
    rejectedInterval: 10,
    listIds: () => [...bought.keys(), ...extraCustomers.map(({ id }) => id)],
    async findCustomer(id) {
      const purchase = bought.get(id);
      return purchase ? toCustomer(id, purchase.id) : extraCustomers.find((customer) => customer.id === id);
    },
    products: [
      { id: 'prod_a', store_identifier: 'premium', type: 'subscription' },
      { id: 'prod_b', store_identifier: 'premium:monthly', type: 'subscription' },
    ],
    entitlements: [{ id: 'entl1', lookup_key: 'pro', products: ['prod_a', 'prod_b'] }],
  });
}, 900_000);
afterAll(async () => {
  for (const server of [standIn, receiver, topic, notifications, queues, service]) await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function buy(index: number): Promise<void> {
  const platform = index % 2 === 0 ? 'store_a' : 'store_b';
  const user = `customer-${String(index).padStart(4, '0')}`;
  const { id } = await service.callControl('/purchases', {
    ...{ platform, productId: 'premium', type: 'paid subscription', applicationUsername: user },
    ...(platform === 'store_b' && { acknowledged: true }),
  });
  bought.set(user, { platform, id });
}

async function queryGooglePlay(token: string) {
  const { payments, expiryTime } = await service.callControl(`/purchases/${encodeURIComponent(token)}`);
  return { storeIdentifier: payments.at(-1).orderId, expiresAt: Date.parse(expiryTime) };
}

/** The customer as RevenueCat has them after the notifications that it received. */
function toCustomer(user: string, id: string): StandInCustomer {
  const subscription = receiver.find(id);
  if (!subscription) return { id: user, subscriptions: [] };
  const { platform, storeIdentifier, expiresAt } = subscription;
  const isApple = platform === 'store_a';
  return {
    id: user,
    subscriptions: [
      {
        id: `sub_${user}`,
        product_id: isApple ? 'prod_a' : 'prod_b',
        store: isApple ? 'app_store' : 'play_store',
        environment: 'production',
        store_subscription_identifier: storeIdentifier,
        current_period_ends_at: expiresAt,
        gives_access: expiresAt > getService().now(),
      },
    ],
  };
}

const signal = new AbortController().signal;
const connection = () => ({
  ...{ key, baseUrl: `${standIn.url}/v2`, rate: 1_000, maxWaitMs: 60_000, project: undefined, signal },
});
const convert = async (name: string, isResumed = false) =>
  await convertRevenueCatProject({
    ...connection(),
    ...{ appName: keys.appName, path: join(folder, name), isResumed, onProgress: () => {}, service: getService() },
  });
const importRows = async (path: string) =>
  await runImport({
    ...{
      appName: keys.appName,
      path,
      isUnannounced: true,
      givesCredits: false,
      isResumed: false,
      maxWaitMs: 0,
      signal,
    },
    rates: Object.fromEntries(Object.keys(defaultRates).map((store) => [store, 1_000])) as StoreRates,
    onProgress: () => {},
    service: getService(),
  });
const readLines = (path: string): readonly object[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** Compares the purchases of all customers, as `compare --users --with revenuecat` does. */
async function compareCustomers(users: readonly string[]) {
  const path = join(folder, 'users.csv');
  writeFileSync(path, ['user', ...users, ''].join('\n'));
  const here: Validator = {
    title: 'This service',
    validate: () => Promise.reject(new Error('not used')),
    async listPurchases(applicationUsername) {
      const { body } = await callWithSecretKey(getCustomerPurchases, keys, { params: { applicationUsername } });
      return fromCustomerPurchases(parse(CustomerPurchases, body), getService().now());
    },
  };
  return await runCompare({
    ...{ path, here, there: await createRevenueCatValidator(connection()), comparesUsers: true, includesUser: true },
    ...{ vocabulary: 'neutral', isErased: async () => false, toleranceMs: 60_000, rate: 1_000, signal },
    onProgress: () => {},
  });
}

/** Performs an action at the stores for some customers. Returns when both services have processed its notifications. */
async function act(action: 'renew' | 'cancel', users: readonly string[]): Promise<void> {
  for (const user of users)
    await service.callControl(`/purchases/${encodeURIComponent(bought.get(user)?.id ?? '')}/${action}`, {});
  await service.waitUntilNotified();
  await queues.drain();
}

/** Returns the announcements of a customer, which the webhooks of the service contain. */
async function listReasons(user: string): Promise<readonly string[]> {
  const { platform, id } = bought.get(user) ?? {};
  const announced = await listAnnouncements(getService(), keys.appName, `${platform}:${id}`);
  return announced.map(({ reason }) => reason);
}

describe('move from RevenueCat by its API', () => {
  it('loses no purchase and announces none twice while subscriptions renew, also on the way back', async () => {
    const users = [...bought.keys()];
    const third = Math.floor(users.length / 3);
    const [first, second, rest] = [users.slice(0, third), users.slice(third, 2 * third), users.slice(2 * third)];
    const appleUrl = `${notifications.url}/v3/webhook/apple/${keys.appName}`;
    const topicUrls = [`${receiver.url}/google`, `${notifications.url}/v3/webhook/google/${keys.appName}`];
    const equal = { rows: users.length, compared: users.length, equal: users.length, differences: [] };

    // RevenueCat has the notification URLs, and does not forward yet.
    await act('renew', first);
    const exported = await convert('first');
    expect(exported).toMatchObject({ customers: users.length, rows: users.length, unmoved: 0, unowned: 0 });
    // It forwards the notifications of the App Store as they come, and the topic of Google Play has both services.
    receiver.forwardTo(appleUrl);
    topic.relayTo(topicUrls);
    const importing = importRows(exported.rowsFile);
    await act('renew', second);
    expect(await importing).toMatchObject({ rows: users.length, refused: 0 });
    await queues.drain();
    const { rowsFile } = await convert('second');
    expect(await importRows(rowsFile)).toMatchObject({ imported: 0, unchanged: users.length });
    expect(await compareCustomers(users)).toMatchObject(equal);

    // The App Store posts to the service, which forwards to RevenueCat. RevenueCat still forwards what it receives.
    await callWithSecretKey(setForwards, keys, { body: [{ url: `${receiver.url}/apple`, platforms: ['store_a'] }] });
    await service.callControl('/clock', { advance: 'PT15S' });
    await service.setNotificationUrl('store_a', appleUrl);
    await act('renew', rest.slice(0, 3));
    expect(await compareCustomers(users)).toMatchObject(equal);
    // The webhooks of RevenueCat are turned off, and the webhook URL is set here.
    receiver.enableWebhooks(false);
    const announcedBefore = new Map<string, number>();
    for (const user of users) announcedBefore.set(user, (await listReasons(user)).length);
    await act('renew', rest);
    await act('cancel', first);
    expect(await compareCustomers(users)).toMatchObject(equal);

    // The way back: the webhook URL is removed here, and the App Store posts to RevenueCat.
    const announced = new Map<string, readonly string[]>();
    for (const user of users) announced.set(user, (await listReasons(user)).slice(announcedBefore.get(user)));
    receiver.enableWebhooks(true);
    await service.setNotificationUrl('store_a', `${receiver.url}/apple`);
    await act('renew', second);
    expect(await compareCustomers(users)).toMatchObject(equal);

    const countRenewals = (user: string): number => {
      const { id } = bought.get(user) ?? {};
      const before = receiver.webhooks.filter((webhook) => webhook.id === id && webhook.type === 'RENEWAL');
      return before.length + (announced.get(user) ?? []).filter((reason) => reason === 'RENEWED').length;
    };
    const renewedTwice = new Set([...second, ...rest.slice(0, 3)]);
    expect(users.filter((user) => countRenewals(user) !== (renewedTwice.has(user) ? 2 : 1))).toEqual([]);
    expect(first.flatMap((user) => announced.get(user))).toEqual(first.map(() => 'WILL_LAPSE'));
    expect(users.filter((user) => announced.get(user)?.includes('PURCHASED'))).toEqual([]);
    expect(standIn.countRejected()).toBeGreaterThan(0);
  }, 3_600_000);

  it('moves entitlements and grants, finds the customers of anonymous ids and lists the rest', async () => {
    const until = getService().now() + 30 * 86_400_000;
    const promotional = { store: 'promotional', gives_access: true, entitlements: { items: [{ lookup_key: 'pro' }] } };
    const apple = await service.callControl('/purchases', {
      ...{ platform: 'store_a', productId: 'premium', type: 'paid subscription' },
      applicationUsername: 'zoe',
    });
    const subscription = { product_id: 'prod_a', store: 'app_store', gives_access: true };
    extraCustomers = [
      { id: 'vic', subscriptions: [{ id: 'g1', ...promotional, current_period_ends_at: until }] },
      { id: 'wil', subscriptions: [{ id: 'g2', ...promotional, gives_access: false }] },
      {
        id: '$RCAnonymousID:1',
        aliases: ['$RCAnonymousID:1', 'zoe'],
        subscriptions: [{ id: 's1', ...subscription, store_subscription_identifier: apple.id }],
      },
      { id: '$RCAnonymousID:2', subscriptions: [{ id: 'g3', ...promotional }] },
      {
        id: 'amy',
        subscriptions: [{ id: 's2', ...subscription, store: 'amazon', store_subscription_identifier: 'a' }],
      },
    ];
    const report = await convert('third');
    expect(report).toMatchObject({ grants: 1, unmoved: 3, products: 1 });
    expect(JSON.parse(readFileSync(report.catalogueFile, 'utf8'))).toEqual({
      premium: { type: 'paid subscription', entitlements: ['pro'] },
    });
    expect(readLines(report.rowsFile)).toContainEqual(
      expect.objectContaining({ originalTransactionId: apple.id, user: 'zoe' }),
    );
    expect(readLines(report.unmovedFile)).toEqual([
      { id: 'g2', reason: 'The grant has ended.' },
      { id: 'g3', reason: expect.stringMatching(/anonymous/) },
      { id: 's2', reason: expect.stringMatching(/amazon/) },
    ]);
    const options = { appName: keys.appName, from: 'revenuecat', service: getService() };
    expect(await importGrants(report.grantsFile, options)).toBe(1);
    expect(await importGrants(report.grantsFile, options)).toBe(0);
    expect(await listStoredGrants(getService(), keys.appName, 'vic')).toMatchObject([{ entitlement: 'pro', until }]);
    extraCustomers = [];
  });

  it('continues after the last complete customer', async () => {
    const { rowsFile } = await convert('whole');
    const customersFile = join(folder, 'part.customers.jsonl');
    const [first = '', second = ''] = readFileSync(join(folder, 'whole.customers.jsonl'), 'utf8').split('\n');
    writeFileSync(customersFile, `${first}\n${second.slice(0, 10)}`);
    const resumed = await convert('part', true);
    expect(readFileSync(resumed.rowsFile, 'utf8')).toBe(readFileSync(rowsFile, 'utf8'));
  });

  it('rejects a wrong key', async () => {
    const converting = convertRevenueCatProject({
      ...{ ...connection(), key: 'sk_wrong', path: join(folder, 'wrong') },
      ...{ appName: keys.appName, isResumed: false, onProgress: () => {}, service: getService() },
    });
    await expect(converting).rejects.toMatchObject({ code: 'Forbidden' });
  });
});
