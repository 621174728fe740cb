import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { dayMs } from '../../lib/foundation/time.ts';
import { startApplicationServer } from '../../testing/application-server.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { callLocalControl, callLocalService, letSettingsTakeEffect } from '../../testing/call-local.ts';
import { type CommandOutcome, runCommand, spawnCommand, startCommand } from '../../testing/command-line.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { waitFor } from '../../testing/wait-for.ts';

const service = startBeforeAll(startLocalService);

const cli = async (args: readonly string[], input?: string): Promise<CommandOutcome> =>
  await runCommand(service.environment, args, input);

/** Runs a command as a separate process. */
const spawn = async (args: readonly string[], input?: string): Promise<CommandOutcome> =>
  await spawnCommand(service.environment, args, input);

const findKey = (text: string, level: 'pub' | 'sec'): string => new RegExp(`${level}_[\\w-]+`).exec(text)?.[0] ?? '';
const fetchStatus = async (appName: string, key: string) =>
  (await fetch(`${service.baseUrl}/v3/customers/ann/purchases`, { headers: buildBasicAuth(appName, key) })).status;
const fetchSettings = async () => await (await fetch(`${service.emulatorUrl}/control/settings/store_a`)).text();

describe('claimcheck', () => {
  it('shows the state of each app and the next step without a command', async () => {
    const demo =
      'app        demo\nstores     store_a, store_b, store_c, processor_a, service_processor_a, processor_b\n';
    const { code, out, error } = await cli([]);
    expect({ code, error, lines: out.trimEnd().split('\n').length }).toEqual({ code: 0, error: '', lines: 7 });
    expect(out).toContain(demo);
    expect(out).toContain('Next: claimcheck app set-catalogue demo products.json');
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    const { apps } = JSON.parse((await cli(['--json'])).out);
    expect(apps).toContainEqual({
      app: appName,
      stores: [],
      products: 0,
      entitlements: [],
      webhooks: [],
      problems: expect.arrayContaining([expect.stringContaining('No store is connected.')]),
      next: `claimcheck app set-store ${appName} apple apple.json (docs/stores/README.md)`,
    });
  });

  it('prints a next step that runs as it is printed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'claimcheck-status-'));
    writeFileSync(join(folder, 'runtime.json'), JSON.stringify({ environment: service.environment }));
    const args = ['--local', '--folder', folder];
    const { out } = await spawn(args);
    const { out: byScript } = await spawnCommand({ ...service.environment, npm_lifecycle_event: 'cli' }, args);
    rmSync(folder, { recursive: true });
    const next = `--local --folder ${folder} app set-catalogue demo products.json`;
    expect(out).toContain(`Next: claimcheck ${next}`);
    expect(byScript).toContain(`Next: npm run -s cli -- ${next}`);
  });

  it('creates an app whose keys are valid immediately, and lists it', async () => {
    const appName = createUniqueName();
    const { code, out, error } = await spawn(['app', 'create', appName]);
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(await fetchStatus(appName, findKey(out, 'sec'))).toBe(200);
    expect(await fetchStatus(appName, findKey(out, 'pub'))).toBe(403);
    expect((await cli(['app', 'list'])).out).toContain(appName);
  });

  it('shows the settings of an app without secrets, with the notification URLs of its stores', async () => {
    const appName = createUniqueName();
    const { publicKey, secretKey } = JSON.parse((await cli(['--json', 'app', 'create', appName])).out);
    const settings = await fetchSettings();
    await cli(['app', 'set-store', appName, 'store_a', '-'], settings);
    await cli(['app', 'set-catalogue', appName, '-'], '{"gold":{"type":"consumable"}}');
    const url = 'http://127.0.0.1:9/hooks';
    const { signingSecret } = JSON.parse((await cli(['--json', 'app', 'set-webhook', appName, '--url', url])).out);
    const { out } = await cli(['--json', 'app', 'show', appName]);
    expect(JSON.parse(out)).toMatchObject({
      app: appName,
      strategy: 'all',
      vocabulary: 'neutral',
      webhooks: { urls: [url], includesPassword: true },
      catalogue: { products: 1 },
      stores: expect.arrayContaining([
        {
          platform: 'store_a',
          isConnected: true,
          notificationUrl: expect.stringMatching(new RegExp(`/v3/webhook/store_a/${appName}$`)),
        },
        expect.objectContaining({ platform: 'store_b', isConnected: false }),
      ]),
      keys: [
        { level: 'public', name: 'main' },
        { level: 'secret', name: 'main' },
      ],
    });
    const text = (await cli(['app', 'show', appName])).out;
    expect(text).toContain(`/v3/webhook/store_a/${appName}`);
    const { issuerId, privateKey } = JSON.parse(settings);
    for (const secret of [publicKey, secretKey, signingSecret, issuerId, privateKey.split('\n')[1]])
      for (const printed of [out, text]) expect(printed).not.toContain(secret);
  });

  it('deletes an app after its name is confirmed, and keeps it in the list', async () => {
    const appName = createUniqueName();
    const { secretKey } = JSON.parse((await cli(['--json', 'app', 'create', appName])).out);
    const unconfirmed = await cli(['app', 'delete', appName]);
    expect(unconfirmed).toMatchObject({ code: 2, out: '' });
    expect(unconfirmed.error).toContain(`pass --confirm ${appName}`);
    expect(await cli(['app', 'delete', appName, '--confirm', 'demo'])).toMatchObject({ code: 1, out: '' });
    expect(await fetchStatus(appName, secretKey)).toBe(200);
    expect(await cli(['app', 'delete', appName, '--confirm', appName])).toMatchObject({ code: 0 });
    await waitFor('the rejection of the key', async () => (await fetchStatus(appName, secretKey)) === 404);
    expect(JSON.parse((await cli(['app', 'list', '--json'])).out)).toContainEqual(
      expect.objectContaining({ app: appName, deletedAt: expect.any(String) }),
    );
    expect(JSON.parse((await cli(['app', 'show', appName, '--json'])).out)).toHaveProperty('deletedAt');
    const { error } = await cli(['app', 'set-strategy', appName, 'first']);
    expect(error).toBe(`The app ${appName} is deleted.\n`);
  });

  it('prints new events with the name of their key until it is interrupted', async () => {
    const appName = createUniqueName();
    const { secretKey } = JSON.parse((await cli(['--json', 'app', 'create', appName])).out);
    const { key } = JSON.parse(
      (await cli(['--json', 'key', 'create', appName, '--level', 'viewer', '--name', 'support'])).out,
    );
    await fetchStatus(appName, secretKey);
    const earlier = async () => (await cli(['--json', 'events', 'tail', appName])).out.split('\n').filter(Boolean);
    await waitFor('the event of a request', async () => (await earlier()).length === 1);
    const tail = await startCommand(service.environment, ['--json', 'events', 'tail', appName, '--follow']);
    let printed = '';
    tail.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    const listEvents = () =>
      printed
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    await waitFor('the earlier event', () => listEvents().length === 1);
    await fetchStatus(appName, key);
    await waitFor('the event of the second request', () => listEvents().length === 2);
    tail.kill('SIGINT');
    const [code] = await once(tail, 'exit');
    expect(code).toBe(130);
    expect(listEvents()).toMatchObject([
      { type: 'customer.read', key: { name: 'main', level: 'secret' } },
      { type: 'customer.read', key: { name: 'support', level: 'viewer' } },
    ]);
    expect((await cli(['events', 'tail', appName])).out).toContain('  support ');
    expect((await cli(['events', 'tail', appName, '--type', 'receipt.*'])).out).toBe('');
  });

  it('rejects an existing app and an invalid app name', async () => {
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    expect(await cli(['app', 'create', appName])).toMatchObject({
      code: 1,
      error: expect.stringMatching(/already exists/),
    });
    expect(await cli(['app', 'create', 'a#b'])).toMatchObject({ code: 2 });
  });

  it('checks settings with the store before it saves them', async () => {
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    const valid = await fetchSettings();
    expect(await cli(['app', 'set-store', appName, 'store_a', '-'], valid)).toMatchObject({ code: 0 });
    const rejected = JSON.stringify({ ...JSON.parse(valid), issuerId: 'unknown' });
    // From standard input, and with the exit codes of a process.
    expect(await spawn(['app', 'set-store', appName, 'store_a', '-'], valid)).toMatchObject({ code: 0 });
    expect(await spawn(['app', 'set-store', appName, 'store_a', '-'], rejected)).toMatchObject({ code: 1, out: '' });
    expect(await spawn(['app', 'create'])).toMatchObject({ code: 2, out: '' });
    expect(await cli(['app', 'set-store', appName, 'store_a', '-'], rejected)).toMatchObject({ code: 1, out: '' });
    expect(await cli(['app', 'set-store', appName, 'store_a', '-'], '{"bundle":1}')).toMatchObject({ code: 1 });
  });

  it('re-encrypts nothing while the master secret is one key', async () => {
    await cli(['app', 'create', createUniqueName()]);
    expect(await cli(['secrets', 'reencrypt'])).toMatchObject({
      code: 0,
      out: '0 values re-encrypted.\n',
    });
  });

  it('backfills missing deliveries of a range of at most 29 days', async () => {
    const today = new Date().toISOString().slice(0, 10);
    expect(await cli(['deliveries', 'backfill', 'demo', '--from', today])).toMatchObject({
      code: 0,
      out: '0 deliveries expected, 0 missing deliveries created.\n',
    });
    const tooEarly = await cli(['deliveries', 'backfill', 'demo', '--from', '2025-01-01']);
    expect(tooEarly).toMatchObject({ code: 1, error: expect.stringMatching(/at most 29 days ago/) });
    expect(await cli(['deliveries', 'backfill', 'demo', '--from', 'yesterday'])).toMatchObject({ code: 2 });
  });

  it('lists the forwards to a URL', async () => {
    const server = await startApplicationServer();
    const url = `${server.url}/forward`;
    expect(await cli(['app', 'set-forwards', 'demo', url])).toMatchObject({ code: 0 });
    await letSettingsTakeEffect(service);
    const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', applicationUsername: 'fay' };
    await callLocalControl(service, '/purchases', order);
    const list = async () => (await cli(['webhooks', 'list', 'demo', '--url', url])).out.split('\n').slice(1);
    const [line] = await waitFor('the forward', list, ([first]) => first?.includes('  delivered  ') ?? false);
    expect(line).toMatch(/ {2}Forward {2}/);
    expect((await cli(['webhooks', 'tail', 'demo'])).out).toContain('  delivered  Forward  ');
    expect(await cli(['app', 'set-forwards', 'demo'])).toMatchObject({ code: 0 });
    await server.close();
  });

  it('lists and replays deliveries by date, state and customer', async () => {
    expect(await cli(['webhooks', 'list', 'demo', '--state', 'dead', '--from', '2026-01-01'])).toMatchObject({
      code: 0,
      out: 'No webhook deliveries.\n',
    });
    expect(await cli(['--json', 'webhooks', 'list', 'demo', '--user', 'ann'])).toMatchObject({ code: 0, out: '[]\n' });
    const range = ['--from', '2026-01-01', '--to', '2026-01-02', '--state', 'delivered'];
    expect(await cli(['webhooks', 'replay', 'demo', ...range])).toMatchObject({
      code: 0,
      out: '0 deliveries enqueued.\n',
    });
    expect(await cli(['webhooks', 'replay', 'demo'])).toMatchObject({ code: 2, out: '' });
    expect(await cli(['webhooks', 'replay', 'demo', 'unknown'])).toMatchObject({ code: 1, out: '' });
  });

  it('replaces the catalogue of an existing app, and shows it', async () => {
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    expect(await cli(['app', 'show-catalogue', appName])).toEqual({ code: 0, out: '{}\n', error: '' });
    const catalogue = {
      'store_b:season': { type: 'non renewing subscription', billingPeriod: 'P3M' },
      gold: { type: 'paid subscription', billingPeriod: 'P1M', group: 'gold' },
    };
    const saved = await cli(['app', 'set-catalogue', appName, '-'], JSON.stringify(catalogue));
    expect(saved).toMatchObject({ code: 0, out: '2 products saved. They take effect within 15 seconds.\n' });
    const invalid = JSON.stringify({ gold: { type: 'paid subscription', billingPeriod: 'monthly' } });
    expect(await cli(['app', 'set-catalogue', appName, '-'], invalid)).toMatchObject({
      code: 1,
      error: expect.stringMatching(/gold.billingPeriod: expected an ISO 8601 duration/),
    });
    expect(JSON.parse((await cli(['app', 'show-catalogue', appName])).out)).toEqual(catalogue);
    expect(await cli(['app', 'set-catalogue', 'unknown', '-'], '{}')).toMatchObject({ code: 1 });
  });

  it.each([
    ['set-strategy', 'strategy', 'all', 'first', 'best'],
    ['set-vocabulary', 'vocabulary', 'neutral', 'brand', 'french'],
    ['set-read-events', 'readEvents', 'on', 'off', 'some'],
    ['set-unverified-hours', 'unverifiedHours', 24, 48, 169],
  ])('changes a setting of an existing app with %s, and back', async (command, member, initial, value, invalid) => {
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    const show = async () => JSON.parse((await cli(['--json', 'app', 'show', appName])).out)[member];
    expect(await show()).toBe(initial);
    for (const changed of [value, initial]) {
      expect(await cli(['app', command, appName, `${changed}`])).toMatchObject({ code: 0 });
      expect(await show()).toBe(changed);
    }
    expect(await cli(['app', command, appName, `${invalid}`])).toMatchObject({ code: 2 });
  });

  it.each([
    ['stats', 'recount', 'unknown', '--from', '2026-01-01', '--to', '2026-01-02'],
    ['customer', 'rebuild-summaries', 'unknown'],
    ['app', 'rotate-key', 'unknown', 'public'],
    ['app', 'set-strategy', 'unknown', 'first'],
  ])('reports an unknown app for %s %s, as text and as JSON', async (...args) => {
    const message = 'The app unknown is not found.';
    expect(await cli(args)).toEqual({ code: 1, out: '', error: `${message}\n` });
    const { error } = await cli(['--json', ...args]);
    expect(JSON.parse(error)).toEqual({ ok: false, code: 'AppNotFound', message });
  });

  it('runs as npm script, without a warning about the Node version', async () => {
    const { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: _disabled, ...env } = {
      ...process.env,
      ...service.environment,
    };
    const project = new URL('../..', import.meta.url);
    const { stdout, stderr } = await promisify(execFile)('npm', ['run', '-s', 'cli', '--', 'app', 'list'], {
      cwd: project,
      env,
    });
    expect(stdout).toContain('demo');
    expect(stderr).toBe('');
  });

  it('reports unknown customers', async () => {
    const { code, out } = await cli(['customer', 'rebuild-summaries', 'demo', 'unknown']);
    expect({ code, out }).toEqual({
      code: 1,
      out: '0 customers checked, 0 summaries corrected.\nCustomers of demo are not found: unknown.\n',
    });
  });

  it.each([
    [['app', 'set-webhook', 'demo', '--url', ''], /--url with one or more URLs, or --off/],
    [['app', 'set-webhook', 'demo'], /--url with one or more URLs, or --off/],
    [
      ['app', 'rotate-key', 'demo', 'public', '--overlap-hours', 'abc'],
      /--overlap-hours .+ Expected a number of hours/,
    ],
    [['app', 'rotate-key', 'demo', 'public', '--overlap-hours', '99999999999999'], /from 0 to 8760/],
    [['deliveries', 'backfill', 'demo', '--from', 'yesterday'], /--from .+ Expected a date or a date-time of ISO 8601/],
    [['app', 'create'], /missing required argument 'name'\s+Run claimcheck help app create/],
  ])('reports the wrong usage in %j', async (args, message) => {
    expect(await cli(args)).toEqual({ code: 2, out: '', error: expect.stringMatching(message) });
    const { code, out, error } = await cli(['--json', ...args]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(JSON.parse(error)).toEqual({ ok: false, code: 'WrongUsage', message: expect.stringMatching(/^[^\n]+$/) });
  });

  it('switches webhooks off', async () => {
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    expect(await cli(['app', 'set-webhook', appName, '--off'])).toMatchObject({ code: 0 });
    expect(await cli(['app', 'test-webhook', appName])).toMatchObject({ code: 1 });
  });

  it.each(['--new-secret', '--rotate-secret'])('replaces the signing secret and keeps the URLs: %s', async (option) => {
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    const url = 'http://127.0.0.1:9/hooks';
    const set = ['--json', 'app', 'set-webhook', appName];
    const first = JSON.parse((await cli([...set, '--url', url, '--no-password'])).out);
    const second = JSON.parse((await cli([...set, option])).out);
    expect(second).toMatchObject({ urls: [url], includesPassword: false, signingSecret: expect.any(String) });
    expect(second.signingSecret).not.toBe(first.signingSecret);
  });

  describe('with an emulator whose clock was moved', () => {
    const control = async (path: string, body?: object): Promise<{ now: string }> => {
      const init = { ...(body && { method: 'POST', body: JSON.stringify(body) }) };
      return (await (await fetch(`${service.emulatorUrl}/control${path}`, init)).json()) as { now: string };
    };
    beforeAll(async () => {
      await control('/clock', { advance: 'P1M' });
    });
    const today = async () => (await control('/clock')).now.slice(0, 10);

    it('keeps the current key valid for the overlap on the clock of the emulator', async () => {
      const appName = createUniqueName();
      const oldKey = findKey((await cli(['app', 'create', appName])).out, 'sec');
      expect((await cli(['app', 'list'])).out).toMatch(new RegExp(`${appName}  .+  ${await today()}`));
      const newKey = findKey((await cli(['app', 'rotate-key', appName, 'secret'])).out, 'sec');
      await control('/clock', { advance: 'PT23H' });
      expect([await fetchStatus(appName, newKey), await fetchStatus(appName, oldKey)]).toEqual([200, 200]);
      await control('/clock', { advance: 'PT2H' });
      expect(await fetchStatus(appName, oldKey)).toBe(401);
    });

    it('signs requests to stores and accepts ranges on the clock of the emulator', async () => {
      const appName = createUniqueName();
      await cli(['app', 'create', appName]);
      expect(await cli(['app', 'set-store', appName, 'store_a', '-'], await fetchSettings())).toMatchObject({
        code: 0,
      });
      expect(await cli(['deliveries', 'backfill', 'demo', '--from', await today()])).toMatchObject({ code: 0 });
      const { now } = await control('/clock');
      const dayBefore = new Date(Date.parse(now) - dayMs).toISOString().slice(0, 10);
      const corrected = await cli(['stats', 'recount', appName, '--from', dayBefore, '--to', dayBefore, '--correct']);
      expect(corrected).toMatchObject({ code: 0 });
    });
  });

  it('reads the purchases, customers, transactions and statistics of the API', async () => {
    const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', applicationUsername: 'rea' };
    const bought = await callLocalControl(service, '/purchases', order);
    const headers = buildBasicAuth(service.appName, service.publicKey);
    const body = JSON.stringify(bought.validate);
    await fetch(`${service.baseUrl}/v1/validate`, { method: 'POST', headers, body });
    const id = `store_a:${bought.id}`;
    const read = async (...args: readonly string[]) => JSON.parse((await cli(['--json', ...args])).out);
    const get = async (path: string) => (await callLocalService(service, path)).body;
    await waitFor(
      'the announcement',
      async () => (await read('purchases', 'show', 'demo', id)).notifications.length > 0,
    );
    expect(await read('purchases', 'show', 'demo', id.replace('store_a', 'apple'))).toEqual(
      await get(`/v3/purchases/${id}?include_notifications=true`),
    );
    expect((await read('purchases', 'list', 'demo', '--user', 'rea', '--active')).rows).toEqual(
      (await get('/v3/purchases?customerId=rea&active=true')).rows,
    );
    const { customerInfo } = await get('/v3/customers/rea');
    expect(await read('customer', 'show', 'demo', 'rea')).toMatchObject({
      customerInfo,
      purchases: [{ purchaseId: id }],
    });
    const isListed = async (...args: readonly string[]) => (await read(...args)).rows.length > 0;
    await waitFor('the list of customers', async () => await isListed('customer', 'list', 'demo', '--state', 'active'));
    await waitFor('the list of transactions', async () => await isListed('transactions', 'list', 'demo'));
    expect((await read('transactions', 'list', 'demo', '--user', 'rea')).rows).toMatchObject([
      { purchaseId: id, entitledUsers: ['rea'] },
    ]);
    expect((await read('transactions', 'list', 'demo', '--purchase', id)).rows).toHaveLength(1);
    const filters = ['--store', 'apple', '--product', 'premium'];
    for (const [list, further, rows] of [
      ['transactions', ['--user', 'rea', ...filters], [{ purchaseId: id }]],
      ['transactions', ['--user', 'rea', '--refunded'], []],
      ['transactions', ['--user', 'rea', '--store', 'google'], []],
      [
        'customer',
        [...filters, '--state', 'active', '--limit', '1'],
        [{ customerInfo: { lastPurchaseId: expect.any(String) } }],
      ],
      ['customer', [...filters, '--state', 'lapsed'], []],
      ['customer', ['--entitlement', 'none'], []],
    ] as const)
      expect((await read(list, 'list', 'demo', ...further)).rows).toMatchObject(rows);
    await waitFor('the statistics', async () =>
      (await read('stats', 'show', 'demo')).rows.some((day: { numTransactions: number }) => day.numTransactions > 0),
    );
    const { dailyStats } = await get('/v3/stats');
    const withoutRequests = (rows: { numRequests: number }[]) => rows.map(({ numRequests: _, ...row }) => row);
    expect(withoutRequests((await read('stats', 'show', 'demo')).rows)).toEqual(withoutRequests(dailyStats));
    for (const [args, text] of [
      [['purchases', 'show', 'demo', id], `purchase   ${id}\nproduct    store_a:premium\nstate      active\n`],
      [['purchases', 'list', 'demo'], `${id}  store_a:premium  active`],
      [['customer', 'show', 'demo', 'rea'], 'rea: active subscriber\n'],
      [['customer', 'list', 'demo', '--limit', '1'], 'active subscriber'],
      [['transactions', 'list', 'demo'], '4.99 USD'],
      [['stats', 'show', 'demo', '--months'], 'REVENUE USD'],
    ] as const)
      expect((await cli(args)).out).toContain(text);
  });

  it.each([
    ['purchases', 'show', 'demo', 'store_a:0'],
    ['customer', 'show', 'demo', 'nobody'],
  ])('reports that %s %s finds nothing', async (...args) => {
    expect(await cli(args)).toMatchObject({ code: 1, out: '', error: expect.stringMatching(/ is not /) });
  });
});
