import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dayMs } from '../../lib/shared/time.ts';
import { startLocal } from '../../local/start-local.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';

let service: Awaited<ReturnType<typeof startLocal>>;
beforeAll(async () => {
  service = await startLocal({});
});
afterAll(async () => {
  await service.close();
});

const run = promisify(execFile);
const project = new URL('../..', import.meta.url);

interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs a command and returns its exit code and output. */
async function cli(args: readonly string[], input = ''): Promise<CommandResult> {
  const running = run(process.execPath, ['--import', 'tsx', 'cli/main.ts', ...args], {
    cwd: project,
    env: { ...process.env, ...service.environment },
  });
  running.child.stdin?.end(input);
  return await running.then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, error: stderr }),
    (failure: { code: number; stdout: string; stderr: string }) => ({
      code: failure.code,
      out: failure.stdout,
      error: failure.stderr,
    }),
  );
}

const findKey = (text: string, level: 'pub' | 'sec'): string => new RegExp(`${level}_[\\w-]+`).exec(text)?.[0] ?? '';
const fetchStatus = async (appName: string, key: string) =>
  (await fetch(`${service.baseUrl}/v3/customers/ann/purchases`, { headers: buildBasicAuth(appName, key) })).status;
const fetchSettings = async () => await (await fetch(`${service.emulatorUrl}/control/settings/store_a`)).text();

describe('claimcheck', () => {
  it('creates an app whose keys are valid immediately, and lists it', async () => {
    const appName = createUniqueName();
    const { out } = await cli(['app', 'create', appName]);
    expect(await fetchStatus(appName, findKey(out, 'sec'))).toBe(200);
    expect(await fetchStatus(appName, findKey(out, 'pub'))).toBe(403);
    expect((await cli(['app', 'list'])).out).toContain(appName);
  });

  it('rejects an existing app and an invalid app name', async () => {
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    expect(await cli(['app', 'create', appName])).toMatchObject({
      code: 1,
      error: expect.stringMatching(/already exists/),
    });
    expect(await cli(['app', 'create', 'a#b'])).toMatchObject({ code: 1 });
  });

  it('rotates a key: the new key is valid, and the current key stays valid for the overlap', async () => {
    const appName = createUniqueName();
    const oldKey = findKey((await cli(['app', 'create', appName])).out, 'sec');
    const newKey = findKey((await cli(['app', 'rotate-key', appName, 'secret'])).out, 'sec');
    expect(newKey).not.toBe(oldKey);
    expect([await fetchStatus(appName, newKey), await fetchStatus(appName, oldKey)]).toEqual([200, 200]);
  });

  it('checks settings with the store before it saves them', async () => {
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    const valid = await fetchSettings();
    expect(await cli(['app', 'set-store', appName, 'store_a', '-'], valid)).toMatchObject({ code: 0 });
    const rejected = JSON.stringify({ ...JSON.parse(valid), issuerId: 'unknown' });
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
    expect(await cli(['deliveries', 'backfill', 'demo', '--from', 'yesterday'])).toMatchObject({ code: 1 });
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

  it('sets the strategy of an existing app only', async () => {
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    expect(await cli(['app', 'set-strategy', appName, 'first'])).toMatchObject({ code: 0 });
    expect((await cli(['app', 'list'])).out).toMatch(new RegExp(`${appName}  strategy first`));
    expect(await cli(['app', 'set-strategy', 'unknown', 'first'])).toMatchObject({ code: 1 });
  });

  it.each([
    ['stats', 'recount', 'unknown', '--from', '2026-01-01', '--to', '2026-01-02'],
    ['customers', 'rebuild-summaries', 'unknown'],
    ['app', 'rotate-key', 'unknown', 'public'],
  ])('reports an unknown app for %s %s', async (...args) => {
    expect(await cli(args)).toEqual({ code: 1, out: '', error: 'The app unknown is not found.\n' });
  });

  it('prints no warning about the Node version', async () => {
    const { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: _disabled, ...env } = {
      ...process.env,
      ...service.environment,
    };
    const { stdout, stderr } = await run(process.execPath, ['--import', 'tsx', 'cli/main.ts', 'app', 'list'], {
      cwd: project,
      env,
    });
    expect(stdout).toContain('demo');
    expect(stderr).toBe('');
  });

  it('reports unknown customers', async () => {
    const { code, error } = await cli(['customers', 'rebuild-summaries', 'demo', 'unknown']);
    expect({ code, error }).toEqual({ code: 1, error: 'Customers of demo are not found: unknown.\n' });
  });

  const name = '1 to 64 letters, digits, dots, dashes and underscores';
  it.each([
    [['app', 'create', 'Bad/Name'], `name: expected ${name}.\n`],
    [['deliveries', 'backfill', 'demo', '--from', 'yesterday'], 'from: expected a date or a date-time of ISO 8601.\n'],
    [['app', 'set-webhook', 'demo', '--url', ''], /--url with one or more URLs, or --off/],
    [['app', 'set-webhook', 'demo'], /--url with one or more URLs, or --off/],
    [
      ['app', 'rotate-key', 'demo', 'public', '--overlap-hours', 'abc'],
      /--overlap-hours .+ Expected a number of hours/,
    ],
    [['app', 'rotate-key', 'demo', 'public', '--overlap-hours', '99999999999999'], /from 0 to 8760/],
    [['app', 'create'], /missing required argument 'name'\s+Usage: claimcheck app create/],
  ])('reports the error in %j', async (args, message) => {
    const error = typeof message === 'string' ? message : expect.stringMatching(message);
    expect(await cli(args)).toEqual({ code: 1, out: '', error });
  });

  it('switches webhooks off', async () => {
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    expect(await cli(['app', 'set-webhook', appName, '--off'])).toMatchObject({ code: 0 });
    expect(await cli(['app', 'test-webhook', appName])).toMatchObject({ code: 1 });
  });

  it('sets the vocabulary of an app', async () => {
    const appName = createUniqueName();
    const secret = findKey((await cli(['app', 'create', appName])).out, 'sec');
    expect(await cli(['app', 'set-vocabulary', appName, 'brand'])).toMatchObject({ code: 0 });
    expect(await cli(['app', 'set-vocabulary', appName, 'french'])).toMatchObject({ code: 1 });
    expect(await fetchStatus(appName, secret)).toBe(200);
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
      expect((await cli(['app', 'list'])).out).toMatch(new RegExp(`${appName}  .+  created ${await today()}`));
      await cli(['app', 'rotate-key', appName, 'secret']);
      await control('/clock', { advance: 'PT23H' });
      expect(await fetchStatus(appName, oldKey)).toBe(200);
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
});
