import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { compareResults } from '../../../cli/compare/compare-results.ts';
import { createRevenueCatValidator } from '../../../cli/compare/revenuecat-validator.ts';
import { CustomerPurchases, fromCustomerPurchases } from '../../../cli/compare/validator-result.ts';
import { convertRevenueCatProject } from '../../../cli/import/from/convert-revenuecat-project.ts';
import { importGrants } from '../../../cli/import/from/import-grants.ts';
import { defaultRates, type StoreRates } from '../../../cli/import/rate-limiter.ts';
import { runImport } from '../../../cli/import/run-import.ts';
import { deps } from '../../../composition/deps.ts';
import { getCustomerPurchases } from '../../../lib/api/customers.ts';
import type { IssuedApiKeys } from '../../../lib/apps/manage-apps.ts';
import { parse } from '../../../lib/shared/parse.ts';
import { callWithSecretKey } from '../../../testing/call.ts';
import { type NotificationRouter, startNotificationRouter } from '../../../testing/notification-router.ts';
import {
  type RevenueCatStandIn,
  type StandInCustomer,
  startRevenueCatStandIn,
} from '../../../testing/revenuecat-stand-in.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';

/** Customers of the rehearsal. */
const customerCount = process.env.FULL === '1' ? 2_000 : 12;
const key = 'sk_test_0123456789';
const folder = mkdtempSync(join(tmpdir(), 'claimcheck-move-'));

let service: TestService;
let router: NotificationRouter;
let keys: IssuedApiKeys;
let standIn: RevenueCatStandIn;
/** Purchases at the stores by customer. RevenueCat reads the store, so that the stand-in does, too. */
const bought = new Map<string, { readonly platform: 'store_a' | 'store_b'; readonly id: string }>();
let extraCustomers: readonly StandInCustomer[] = [];

beforeAll(async () => {
  service = await startTestService();
  router = await startNotificationRouter(service, ['store_a', 'store_b']);
  keys = await service.createApp(['store_a', 'store_b']);
  for (let index = 0; index < customerCount; index++) await buy(index);
  standIn = await startRevenueCatStandIn({
    key,
    rejectedInterval: 10,
    listIds: () => [...bought.keys(), ...extraCustomers.map(({ id }) => id)],
    async findCustomer(id) {
      const purchase = bought.get(id);
      return purchase ? await toCustomer(id, purchase) : extraCustomers.find((customer) => customer.id === id);
    },
    products: [
      { id: 'prod_a', store_identifier: 'premium', type: 'subscription' },
      { id: 'prod_b', store_identifier: 'premium:monthly', type: 'subscription' },
    ],
    entitlements: [{ id: 'entl1', lookup_key: 'pro', products: ['prod_a', 'prod_b'] }],
  });
}, 900_000);
afterAll(async () => {
  await standIn.close();
  await router.close();
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

async function buy(index: number): Promise<void> {
  const platform = index % 2 === 0 ? 'store_a' : 'store_b';
  const order = { platform, productId: 'premium', type: 'paid subscription', acknowledged: platform === 'store_b' };
  const { acknowledged, ...rest } = order;
  const user = `customer-${String(index).padStart(4, '0')}`;
  const { id } = await service.callControl('/purchases', {
    ...rest,
    ...(acknowledged && { acknowledged }),
    applicationUsername: user,
  });
  bought.set(user, { platform, id });
}

/** The subscription of a customer as RevenueCat reports it: with the latest transaction or order of the store. */
async function toCustomer(user: string, { platform, id }: { readonly platform: string; readonly id: string }) {
  const purchase = await service.callControl(`/purchases/${encodeURIComponent(id)}`);
  const isApple = platform === 'store_a';
  return {
    id: user,
    subscriptions: [
      {
        id: `sub_${user}`,
        product_id: isApple ? 'prod_a' : 'prod_b',
        store: isApple ? 'app_store' : 'play_store',
        environment: 'production',
        store_subscription_identifier: isApple ? id : purchase.payments.at(-1).orderId,
        current_period_ends_at: Date.parse(isApple ? purchase.expiresDate : purchase.expiryTime),
        gives_access: true,
      },
    ],
  };
}

const convert = async (name: string, isResumed = false) =>
  await convertRevenueCatProject({
    ...{ appName: keys.appName, project: undefined, key, baseUrl: `${standIn.url}/v2`, rate: 1_000 },
    ...{ path: join(folder, name), isResumed, maxWaitMs: 60_000, signal: new AbortController().signal },
    onProgress: () => {},
    deps: deps(),
  });
const importRows = async (path: string) =>
  await runImport({
    ...{ appName: keys.appName, path, isUnannounced: true, isResumed: false, maxWaitMs: 0 },
    rates: Object.fromEntries(Object.keys(defaultRates).map((store) => [store, 1_000])) as StoreRates,
    signal: new AbortController().signal,
    onProgress: () => {},
    deps: deps(),
  });
const readLines = (path: string): readonly object[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

describe('A move from RevenueCat by its API', () => {
  it('loses no purchase and announces none twice while subscriptions renew', async () => {
    const users = [...bought.keys()];
    const [before, during] = [users.slice(0, users.length / 3), users.slice(users.length / 3, users.length / 2)];
    const renew = async (user: string) =>
      await service.callControl(`/purchases/${encodeURIComponent(bought.get(user)?.id ?? '')}/renew`, {});
    // RevenueCat has the notification URLs, and does not forward yet.
    router.routeTo([]);
    for (const user of before) await renew(user);
    await router.waitUntilPosted();
    const first = await convert('first');
    expect(first).toMatchObject({ customers: customerCount, rows: customerCount, unmoved: 0, unowned: 0 });
    // From now on, it forwards the notifications as they came.
    router.routeTo([keys.appName]);
    const importing = importRows(first.rowsFile);
    for (const user of during) await renew(user);
    expect(await importing).toMatchObject({ rows: customerCount, refused: 0 });
    await router.waitUntilPosted();
    await router.process(router.take(keys.appName));
    const second = await convert('second');
    expect(await importRows(second.rowsFile)).toMatchObject({ imported: 0, unchanged: customerCount });
    // The stores send their notifications here.
    const after = users.slice(-3);
    for (const user of after) await renew(user);
    await router.waitUntilPosted();
    await router.process(router.take(keys.appName));

    const there = await createRevenueCatValidator({
      ...{ key, baseUrl: `${standIn.url}/v2`, rate: 1_000, maxWaitMs: 60_000, project: undefined },
      signal: new AbortController().signal,
    });
    for (const user of users) {
      const { body } = await callWithSecretKey(getCustomerPurchases, keys, { params: { applicationUsername: user } });
      const here = fromCustomerPurchases(parse(CustomerPurchases, body), deps().now());
      expect(compareResults(here, await there.listPurchases(user), { toleranceMs: 60_000 })).toEqual([]);
      expect(here.purchases).toMatchObject([{ productId: 'premium', isOwned: true }]);
    }
    for (const [user, { platform, id }] of bought) {
      const announced = await deps().purchases.listNotifications(keys.appName, `${platform}:${id}`);
      const reasons = announced.map(({ reason }) => reason);
      expect(reasons).not.toContain('PURCHASED');
      expect(reasons.filter((reason) => reason === 'RENEWED').length).toBeLessThanOrEqual(1);
      if (after.includes(user)) expect(reasons).toContain('RENEWED');
    }
    expect(standIn.countRejected()).toBeGreaterThan(0);
  }, 3_600_000);

  it('moves entitlements and grants, finds the customers of anonymous ids and lists the rest', async () => {
    const until = deps().now() + 30 * 86_400_000;
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
    const options = { appName: keys.appName, service: 'revenuecat', deps: deps() };
    expect(await importGrants(report.grantsFile, options)).toBe(1);
    expect(await importGrants(report.grantsFile, options)).toBe(0);
    expect(await deps().grants.list(keys.appName, 'vic')).toMatchObject([{ entitlement: 'pro', until }]);
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
    const { key: _key, ...options } = { key, path: join(folder, 'wrong') };
    const wrong = { ...options, key: 'sk_wrong', baseUrl: `${standIn.url}/v2`, maxWaitMs: 0, project: undefined };
    const converting = convertRevenueCatProject({
      ...{ ...wrong, appName: keys.appName, isResumed: false, onProgress: () => {}, deps: deps() },
      signal: new AbortController().signal,
    });
    await expect(converting).rejects.toMatchObject({ code: 'Forbidden' });
  });
});
