import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startLocal } from '../../local/start-local.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';

let service: Awaited<ReturnType<typeof startLocal>>;
beforeAll(async () => {
  service = await startLocal({});
}, 60_000);
afterAll(async () => {
  await service.close();
});

const run = promisify(execFile);
const project = new URL('../..', import.meta.url);

/** What the command prints; a command that fails gives its exit code and its message. */
async function cli(args: readonly string[], input = ''): Promise<{ code: number; out: string; error: string }> {
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

const keyIn = (text: string, level: 'pub' | 'sec'): string => new RegExp(`${level}_[\\w-]+`).exec(text)?.[0] ?? '';
const status = async (appName: string, key: string) =>
  (await fetch(`${service.baseUrl}/v3/customers/ann/purchases`, { headers: buildBasicAuth(appName, key) })).status;
const settings = async () => await (await fetch(`${service.emulatorUrl}/control/settings/store_a`)).text();

describe('the command line', () => {
  it('makes an application whose keys work at once, and lists it', async () => {
    const appName = createUniqueName();
    const { out } = await cli(['app', 'create', appName]);
    expect(await status(appName, keyIn(out, 'sec'))).toBe(200);
    expect(await status(appName, keyIn(out, 'pub'))).toBe(403);
    expect((await cli(['app', 'list'])).out).toContain(appName);
  }, 30_000);

  it('refuses a name twice, and one that no key of the table could hold', async () => {
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    expect(await cli(['app', 'create', appName])).toMatchObject({
      code: 1,
      error: expect.stringMatching(/exists already/),
    });
    expect(await cli(['app', 'create', 'a#b'])).toMatchObject({ code: 1 });
  }, 30_000);

  it('rotates a key: the new one works, and the present one stays live for the overlap', async () => {
    const appName = createUniqueName();
    const old = keyIn((await cli(['app', 'create', appName])).out, 'sec');
    const fresh = keyIn((await cli(['app', 'rotate-key', appName, 'secret'])).out, 'sec');
    expect(fresh).not.toBe(old);
    expect([await status(appName, fresh), await status(appName, old)]).toEqual([200, 200]);
  }, 30_000);

  it('asks the store whether it accepts the settings before it keeps them', async () => {
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    const good = await settings();
    expect(await cli(['app', 'set-store', appName, 'store_a', '-'], good)).toMatchObject({ code: 0 });
    const wrong = JSON.stringify({ ...JSON.parse(good), issuerId: 'somebody else' });
    expect(await cli(['app', 'set-store', appName, 'store_a', '-'], wrong)).toMatchObject({ code: 1, out: '' });
    expect(await cli(['app', 'set-store', appName, 'store_a', '-'], '{"bundle":1}')).toMatchObject({ code: 1 });
  }, 30_000);

  it('finds nothing to seal again while the master secret is one key', async () => {
    await cli(['app', 'create', createUniqueName()]);
    expect(await cli(['secrets', 'reencrypt'])).toMatchObject({
      code: 0,
      out: '0 texts were under another key than the first.\n',
    });
  }, 30_000);

  it('announces what was not announced in a range, which must begin within 29 days', async () => {
    const today = new Date().toISOString().slice(0, 10);
    expect(await cli(['deliveries', 'backfill', 'demo', '--from', today])).toMatchObject({
      code: 0,
      out: '0 webhooks; 0 of them were missing and are on their way.\n',
    });
    const refused = await cli(['deliveries', 'backfill', 'demo', '--from', '2025-01-01']);
    expect(refused).toMatchObject({ code: 1, error: expect.stringMatching(/at most 29 days ago/) });
    expect(await cli(['deliveries', 'backfill', 'demo', '--from', 'yesterday'])).toMatchObject({ code: 1 });
  }, 30_000);

  it('sets the strategy, and nothing for an application that is not there', async () => {
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    expect(await cli(['app', 'set-strategy', appName, 'first'])).toMatchObject({ code: 0 });
    expect((await cli(['app', 'list'])).out).toMatch(new RegExp(`${appName}  strategy first`));
    expect(await cli(['app', 'set-strategy', 'nobody', 'first'])).toMatchObject({ code: 1 });
  }, 30_000);

  it.each([
    ['stats', 'recount', 'nobody', '--from', '2026-01-01', '--to', '2026-01-02'],
    ['customers', 'rebuild-summaries', 'nobody'],
    ['app', 'rotate-key', 'nobody', 'public'],
  ])('says for %s %s that there is no such application', async (...args) => {
    expect(await cli(args)).toEqual({ code: 1, out: '', error: 'There is no application named nobody.\n' });
  });

  it('says which of the customers to summarize there is none of', async () => {
    const { code, error } = await cli(['customers', 'rebuild-summaries', 'demo', 'nobody']);
    expect({ code, error }).toEqual({ code: 1, error: 'demo has no customer named nobody.\n' });
  });

  const name = '1 to 64 letters, digits, dots, dashes and underscores';
  it.each([
    [['app', 'create', 'Bad/Name'], `name: expected ${name}.\n`],
    [['deliveries', 'backfill', 'demo', '--from', 'yesterday'], 'from: expected a date or a date-time of ISO 8601.\n'],
    [['app', 'set-webhook', 'demo', '--url', ''], /--url with one URL or several, or --off/],
    [['app', 'set-webhook', 'demo'], /--url with one URL or several, or --off/],
    [
      ['app', 'rotate-key', 'demo', 'public', '--overlap-hours', 'abc'],
      /--overlap-hours .+ Expected a number of hours/,
    ],
    [['app', 'rotate-key', 'demo', 'public', '--overlap-hours', '99999999999999'], /from 0 to 8760/],
    [['app', 'create'], /missing required argument 'name'\s+Usage: claimcheck app create/],
  ])('says in words what is wrong with %j', async (args, words) => {
    const says = typeof words === 'string' ? words : expect.stringMatching(words);
    expect(await cli(args)).toEqual({ code: 1, out: '', error: says });
  });

  it('switches webhooks off when it is told to', async () => {
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    expect(await cli(['app', 'set-webhook', appName, '--off'])).toMatchObject({ code: 0 });
    expect(await cli(['app', 'test-webhook', appName])).toMatchObject({ code: 1 });
  }, 30_000);

  it('sets the words of an application', async () => {
    const appName = createUniqueName();
    const secret = keyIn((await cli(['app', 'create', appName])).out, 'sec');
    expect(await cli(['app', 'set-vocabulary', appName, 'brand'])).toMatchObject({ code: 0 });
    expect(await cli(['app', 'set-vocabulary', appName, 'french'])).toMatchObject({ code: 1 });
    expect(await status(appName, secret)).toBe(200);
  }, 30_000);

  describe('beside an emulator whose clock was moved', () => {
    const control = async (path: string, body?: object): Promise<{ now: string }> => {
      const asked = { ...(body && { method: 'POST', body: JSON.stringify(body) }) };
      return (await (await fetch(`${service.emulatorUrl}/control${path}`, asked)).json()) as { now: string };
    };
    beforeAll(async () => {
      await control('/clock', { advance: 'P1M' });
    });
    const today = async () => (await control('/clock')).now.slice(0, 10);

    it('keeps the present key live for the overlap, counted from the time of the service', async () => {
      const appName = createUniqueName();
      const old = keyIn((await cli(['app', 'create', appName])).out, 'sec');
      expect((await cli(['app', 'list'])).out).toMatch(new RegExp(`${appName}  .+  created ${await today()}`));
      await cli(['app', 'rotate-key', appName, 'secret']);
      await control('/clock', { advance: 'PT23H' });
      expect(await status(appName, old)).toBe(200);
      await control('/clock', { advance: 'PT2H' });
      expect(await status(appName, old)).toBe(401);
    }, 30_000);

    it('signs to the stores, and takes ranges up to now, in that time', async () => {
      const appName = createUniqueName();
      await cli(['app', 'create', appName]);
      expect(await cli(['app', 'set-store', appName, 'store_a', '-'], await settings())).toMatchObject({ code: 0 });
      expect(await cli(['deliveries', 'backfill', 'demo', '--from', await today()])).toMatchObject({ code: 0 });
      const { now } = await control('/clock');
      const dayBefore = new Date(Date.parse(now) - 86_400_000).toISOString().slice(0, 10);
      const corrected = await cli(['stats', 'recount', appName, '--from', dayBefore, '--to', dayBefore, '--correct']);
      expect(corrected).toMatchObject({ code: 0 });
    }, 40_000);
  });
});
