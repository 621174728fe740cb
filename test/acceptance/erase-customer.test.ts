import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApp, type IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { setStoreSettings } from '../../lib/apps/store-settings-table.ts';
import { type Cipher, createCipher } from '../../lib/foundation/cipher.ts';
import { toKey } from '../../lib/foundation/key.ts';
import { purchaseKey } from '../../lib/foundation/keys.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { createTableClient, type Item } from '../../lib/foundation/table.ts';
import type { LocalService } from '../../local/start-local.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { callLocalControl, type Json, waitUntilQueuesEmpty } from '../../testing/call-local.ts';
import { type CommandOutcome, runCommand, spawnCommand } from '../../testing/command-line.ts';
import { createService } from '../../testing/create-service.ts';
import { formatItem, scanItems } from '../../testing/dump-items.ts';
import { findNames } from '../../testing/find-names.ts';
import { createUniqueName } from '../../testing/given.ts';
import { findItemTypes, namePlaces } from '../../testing/item-types.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { waitFor } from '../../testing/wait-for.ts';

/** A name with every kind of character that an encoding changes. */
const erin = `erin O'Brien #1/ü%2B?"q"\\日本<🙂>@example.com`;
const bob = 'bob@example.com';
const subscriptions: readonly (readonly [platform: Platform, productId: string])[] = [
  ['store_a', 'premium'],
  ['store_b', 'premium'],
  ['store_c', '9NBLGGH5W123'],
  ['processor_a', 'premium'],
  ['processor_b', 'monthly'],
];

const folder = mkdtempSync(join(tmpdir(), 'claimcheck-erasure-'));
const logLines: string[] = [];
const webhooks: string[] = [];
let service: LocalService;
let other: IssuedApiKeys;
let cipher: Cipher;

/** Ids at the emulator and bodies of validations, by store. */
const purchases = new Map<Platform, { readonly id: string; readonly validate: Json }>();

const cli = async (...args: readonly string[]): Promise<CommandOutcome> => await runCommand(service.environment, args);

const control = async (path: string, body?: object) => await callLocalControl(service, path, body);

async function call(path: string, { body, keys = service, isPublic }: CallOptions = {}): Promise<Json> {
  const headers = buildBasicAuth(keys.appName, isPublic ? keys.publicKey : keys.secretKey);
  const init = body ? { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) } : {};
  return (await (await fetch(service.baseUrl + path, { ...init, headers })).json()) as Json;
}
interface CallOptions {
  readonly body?: object | string;
  readonly keys?: IssuedApiKeys;
  readonly isPublic?: true;
}

const userPath = (username: string) => `/v3/customers/${encodeURIComponent(username)}`;
const validate = async (body: object, keys: IssuedApiKeys = service) =>
  await call('/v1/validate', { body, keys, isPublic: true });
const withUser = ({ additionalData, ...body }: Json, applicationUsername: string): Json => ({
  ...body,
  additionalData: { applicationUsername },
});

async function buy(username: string, [platform, productId]: (typeof subscriptions)[number]) {
  const order = { platform, productId, type: 'paid subscription', applicationUsername: username, autoRenew: true };
  return (await control('/purchases', order)) as { readonly id: string; readonly validate: Json };
}

/** Returns the items of the app, and the items of other apps. */
async function scanApps(): Promise<{ readonly own: Item[]; readonly others: Item[] }> {
  const items = await scanItems(service.environment.TABLE_NAME ?? '');
  const isOwn = ({ pk }: Item) => String(pk).startsWith(`${service.appName}#`) || pk === `APP#${service.appName}`;
  return { own: items.filter(isOwn), others: items.filter((item) => !isOwn(item)) };
}

/** Returns all items as text, with the encrypted parts decrypted. */
async function dump(): Promise<{ readonly own: string[]; readonly others: string[] }> {
  const { own, others } = await scanApps();
  return { own: await Promise.all(own.map(toText)), others: await Promise.all(others.map(toText)) };
}

async function toText(item: Item): Promise<string> {
  const { refreshToken, pk } = item;
  if (typeof refreshToken !== 'string') return formatItem(item);
  const [appName = ''] = String(pk).split('#');
  const context = `${appName}/refresh/${purchaseKey.parsePartition(String(pk)).purchaseId}`;
  return `${formatItem(item)} ${await cipher.decrypt(refreshToken, context)}`;
}

/** Waits until the stores have posted each notification. */
async function waitUntilNotified(): Promise<void> {
  const list = async (): Promise<Json[]> => (await control('/notifications?state=waiting')).notifications;
  await waitFor('notifications of the stores', list, (waiting) => waiting.every(({ attempts }) => attempts.length > 0));
}

/** Waits until the statistics have counted each transaction. */
async function waitUntilCounted(): Promise<void> {
  const day = String((await control('/clock')).now).slice(0, 10);
  const recount = async () => await cli('stats', 'recount', service.appName, '--from', day, '--to', day);
  await waitFor('equal counters', recount, ({ out }) => out.includes('The counters match the table.'));
}

/** Waits until no function has work and returns the items. */
async function dumpWhenQuiet() {
  await waitUntilQueuesEmpty(service);
  let last = '';
  return await waitFor('an unchanged table', dump, ({ own }) => {
    const text = [...own]
      .filter((item) => !item.includes('checkpoints'))
      .sort()
      .join('\n');
    const isQuiet = text === last;
    last = text;
    return isQuiet;
  });
}

/** Returns the statistics without the number of requests, which the calls of this test increase. */
const fetchMoney = async (): Promise<Json> =>
  JSON.parse(JSON.stringify(await call('/v3/stats')).replaceAll(/"numRequests":\d+,?/g, ''));

/** Lists the kinds of the items that contain a name. */
const listNamingKinds = async (names: readonly string[]) => {
  const { own } = await scanApps();
  const texts = await Promise.all(own.map(toText));
  const naming = new Set(findNames(texts, names));
  return [
    ...new Set(own.flatMap((item, index) => (naming.has(texts[index] ?? '') ? findItemTypes(toKey(item)) : []))),
  ].sort();
};

beforeAll(async () => {
  service = await startLocalService({
    folder,
    log: (text) => logLines.push(text),
    onWebhook: (line) => webhooks.push(line),
  });
  const { TABLE_NAME: table = '', MASTER_KEY_ID = '' } = service.environment;
  const state = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as { secrets: Record<string, string> };
  cipher = createCipher(async () => state.secrets[MASTER_KEY_ID] ?? '', Date.now);
  const direct = createService(createTableClient(table), { cipher });
  other = await createApp(direct, createUniqueName(), Date.now());
  await setStoreSettings(direct, other.appName, 'store_b', await control('/settings/store_b'));

  for (const subscription of subscriptions) {
    const purchase = await buy(erin, subscription);
    purchases.set(subscription[0], purchase);
    expect(await validate(purchase.validate)).toMatchObject({ ok: true });
  }
  // A purchase that bob shares, and a purchase of bob that erin has by a manual link.
  expect(await validate(withUser(purchases.get('store_a')?.validate ?? {}, bob))).toMatchObject({ ok: true });
  const linked = await buy(bob, ['store_b', 'premium']);
  expect(await validate(linked.validate)).toMatchObject({ ok: true });
  const [bobs] = Object.values((await call(`${userPath(bob)}/purchases`)).purchases as Record<string, Json>).filter(
    ({ platform }) => platform === 'store_b',
  );
  expect(await call(`${userPath(erin)}/purchases`, { body: { purchaseId: bobs?.purchaseId } })).toMatchObject({
    ok: true,
  });
  // The same user in another app.
  expect(await validate(purchases.get('store_b')?.validate ?? {}, other)).toMatchObject({ ok: true });
  // Checkout, portal and vault.
  const prices = (await call('/v3/processor_a/prices', { isPublic: true })) as {
    products: { offers: { id: string }[] }[];
  };
  const offerId = prices.products.flatMap(({ offers }) => offers)[0]?.id;
  const urls = { successUrl: 'https://app.example.com/ok', cancelUrl: 'https://app.example.com/no' };
  const checkout = await call('/v3/processor_a/checkout', {
    body: { offerId, applicationUsername: erin, ...urls },
    isPublic: true,
  });
  expect(checkout).toMatchObject({ ok: true });
  await control(`/checkouts/${checkout.sessionId}/pay`, {});
  const portal = { id: checkout.sessionId, accessToken: checkout.accessToken, returnUrl: urls.successUrl };
  expect(await call('/v3/processor_a/portal', { body: portal, isPublic: true })).toMatchObject({ ok: true });
  await call('/v3/processor_b/client-token', { body: { applicationUsername: erin }, isPublic: true });
  // Reads, and requests that fail after they named the user.
  for (const path of ['', '/purchases', '/subscription', '/transactions']) await call(userPath(erin) + path);
  await call(`/v3/customers?applicationUsername=${encodeURIComponent(encodeURIComponent(erin))}`);
  await call(`/v3/search/${encodeURIComponent(erin)}`);
  await call(`/v3/processor_a/purchases?applicationUsername=${encodeURIComponent(erin)}`);
  await validate({ id: 'premium', type: 'no type', additionalData: { applicationUsername: erin }, transaction: {} });
  await validate({ id: 'premium', type: 'consumable', applicationUsername: erin, transaction: { type: 'ios-store' } });
  await call('/v3/customers/x/purchases', { body: { applicationUsername: erin } });
  await waitFor(
    'webhooks of all stores',
    () => webhooks.filter((line) => line.includes(erin)).length >= subscriptions.length,
  );
}, 300_000);
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('customer export and customer erase', () => {
  let before: Awaited<ReturnType<typeof dump>>;
  let statsBefore: Json;

  it('stores the customer in items of every kind before the erasure', async () => {
    await waitUntilNotified();
    await waitUntilQueuesEmpty(service);
    await waitUntilCounted();
    before = await dumpWhenQuiet();
    statsBefore = await fetchMoney();
    const named = findNames(before.own, [erin]);
    const kinds = await listNamingKinds([erin]);
    expect(kinds).toEqual(
      expect.arrayContaining([
        'accessTokenKey',
        'claimKey',
        'customerKey',
        'eventItemKey',
        'tagKey',
        'purchaseKey',
        'aliasKey',
        'deliveryKey',
      ]),
    );
    expect(kinds.filter((kind) => namePlaces[kind] === 'never')).toEqual([]);
    expect(named.length).toBeGreaterThan(50);
  });

  it('exports the data of the customer without secrets and without other customers', async () => {
    const file = join(folder, 'erin.json');
    const result = await cli('customer', 'export', service.appName, erin, '--output', file);
    expect(result).toMatchObject({ code: 0 });
    const text = readFileSync(file, 'utf8');
    const document = JSON.parse(text) as Json;
    expect(document).toMatchObject({ app: service.appName, applicationUsername: erin });
    const platforms = document.purchases.map(({ platform }: Json) => platform);
    expect([...new Set(platforms)].sort()).toEqual(subscriptions.map(([platform]) => platform).sort());
    expect(document.purchases.filter(({ claim }: Json) => claim.source === 'manual')).toHaveLength(1);
    for (const { transactions } of document.purchases) expect(transactions.length).toBeGreaterThan(0);
    expect(document.webhookDeliveries.length).toBeGreaterThanOrEqual(subscriptions.length);
    expect(document.events.some(({ raw }: Json) => raw)).toBe(true);
    expect(document.accessTokens).toHaveLength(1);
    expect(text).not.toContain(bob);
    expect(text).not.toContain('refreshToken');
    // Standard output of a process.
    const { out } = await spawnCommand(service.environment, ['customer', 'export', service.appName, erin]);
    expect(JSON.parse(out)).toMatchObject({ applicationUsername: erin, purchases: document.purchases });
  });

  it('erases the customer from all items, and leaves other customers and apps unchanged', async () => {
    const { code, out, error } = await cli(
      '--json',
      'customer',
      'erase',
      service.appName,
      erin,
      '--confirm',
      erin,
      '--wait',
      '1',
    );
    const note = { note: 'The command searches again 1 s after it has removed data.' };
    expect({ code, error }).toEqual({ code: 0, error: `${JSON.stringify(note)}\n` });
    const { removed } = JSON.parse(out) as { removed: Record<string, number> };
    expect(Object.values(removed).every((count) => Number.isInteger(count))).toBe(true);
    expect(removed).toMatchObject({ accessTokens: 1, vaultReferences: 1 });
    const after = await dumpWhenQuiet();
    expect(findNames(after.own, [erin])).toEqual([]);
    expect(findNames(after.others, [erin])).toEqual(findNames(before.others, [erin]));
    expect(findNames(after.others, [erin])).not.toEqual([]);
    const bobs = (await call(`${userPath(bob)}/purchases`)).purchases as Record<string, Json>;
    expect(
      Object.values(bobs)
        .map(({ platform }) => platform)
        .sort(),
    ).toEqual(['store_a', 'store_b']);
  });

  it('keeps the money and the counters', async () => {
    expect(await fetchMoney()).toEqual(statsBefore);
    await waitUntilCounted();
    const { rows, paging } = await call('/v3/customers');
    expect(rows.map(({ applicationUsername }: Json) => applicationUsername)).toEqual([bob]);
    expect(paging.total).toBe(1);
  });

  it('finds nothing in a second run', async () => {
    const { out } = await cli('customer', 'erase', service.appName, erin, '--confirm', erin, '--wait', '1');
    expect(out).toContain('No data of the customer was found.');
    const exported = await spawnCommand(service.environment, ['--json', 'customer', 'export', service.appName, erin]);
    expect(JSON.parse(exported.out)).toMatchObject({ customer: null, purchases: [] });
    expect(JSON.parse(exported.error).note).toContain('has no data of');
  });

  it('does not store the name again if stores repeat it', async () => {
    for (const { id } of purchases.values()) await control(`/purchases/${id}/renew`, {});
    await control('/clock', { advance: 'P2D' });
    expect((await cli('purchases', 'refresh', service.appName)).code).toBe(0);
    expect(findNames((await dumpWhenQuiet()).own, [erin])).toEqual([]);
  }, 180_000);

  it('leaves no name in the log', () => {
    expect(findNames(logLines, [erin, bob])).toEqual([]);
  });
});
