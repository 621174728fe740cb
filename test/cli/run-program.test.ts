import { beforeAll, describe, expect, it } from '@jest/globals';
import { runProgram } from '../../cli/run-program.ts';

/** Runs a command that needs no service. */
async function run(...args: readonly string[]) {
  const [out, error]: [string[], string[]] = [[], []];
  const code = await runProgram(args, {
    writeOut: (text) => out.push(text),
    writeErr: (text) => error.push(text),
    getOutHelpWidth: () => 1_000,
    getErrHelpWidth: () => 1_000,
  });
  return { code, out: out.join(''), error: error.join('') };
}

describe('claimcheck help', () => {
  it.each([
    [['key', 'create'], 'Usage: claimcheck key create [options] <app>'],
    [['webhooks', 'replay'], 'Usage: claimcheck webhooks replay [options] <app> [id]'],
    [['deliveries', 'replay'], 'Usage: claimcheck webhooks replay [options] <app> [id]'],
    [['import'], 'Usage: claimcheck import [options] <app> <file>'],
  ])('prints the help of %j with examples', async (names, usage) => {
    const { code, out, error } = await run('help', ...names);
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(out.replace('webhooks|deliveries', 'webhooks')).toContain(usage);
    expect(out).toContain('Example');
    expect((await run(...names, '--help')).out).toBe(out);
  });

  it('accepts the names of a command as one argument', async () => {
    const { code, out, error } = await run('help', 'key create');
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(out).toBe((await run('help', 'key', 'create')).out);
  });

  it('rejects an unknown command in one argument', async () => {
    expect(await run('help', 'key no')).toMatchObject({ code: 2, error: expect.stringContaining('command: key no.') });
  });

  it('shows the help of export after the name of an app', async () => {
    expect(await run('export', 'my-app', '--help')).toMatchObject({
      code: 0,
      out: expect.stringContaining('Usage: claimcheck export'),
      error: '',
    });
  });

  it('lists the commands without a name', async () => {
    expect((await run('help')).out).toContain('Operate a Claimcheck service');
    expect((await run('help', 'key')).out).toContain('Manage the API keys of an app');
  });

  it.each([[['no']], [['key', 'no']], [['import', 'my-app']]])('rejects the unknown command %j', async (names) => {
    expect(await run('help', ...names)).toMatchObject({
      code: 2,
      out: '',
      error: expect.stringContaining(`Unknown command: ${names.join(' ')}.`),
    });
  });

  it('shows the defaults of an import as text', async () => {
    const { out } = await run('help', 'import');
    expect(out).toMatch(/--mute +no webhooks for the imported purchases \(default: true\)/);
    expect(out).toMatch(/--rate.+repeatable \(default: store_a=25, store_b=25,/);
    expect(out).not.toContain('{"');
  });
});

describe('claimcheck', () => {
  it.each([
    [['app', 'create'], "error: missing required argument 'name'", 'app create'],
    [['app', 'create', 'My App!'], "error: command-argument value 'My App!' is invalid", 'app create'],
    [['key', 'create', 'my-app', '--level', 'viewer', '--name', '#'], "error: option '--name <text>'", 'key create'],
    [['why', 'my-app', ''], "error: command-argument value '' is invalid for argument 'user'", 'why'],
    [['key', 'no'], "error: unknown command 'no'", 'key'],
    [
      ['webhooks', 'backfill', 'my-app', '--from', '2026-01-01T25:00Z'],
      'is invalid. Expected a time that',
      'webhooks backfill',
    ],
    [['key'], 'error: Pass a command: key create, key list, key revoke.', 'key'],
    [['nope', '--help'], "error: unknown command 'nope'", ''],
    [['--stack', 'nope', 'key', 'nope', '-h'], "error: unknown command 'nope'", 'key'],
  ])('rejects %j in two lines', async (args, message, path) => {
    const { code, out, error } = await run(...args);
    const lines = error.trimEnd().split('\n');
    expect({ code, out, count: lines.length }).toEqual({ code: 2, out: '', count: 2 });
    expect(lines[0]).toContain(message);
    expect(lines[1]).toBe(`Run claimcheck help${path && ` ${path}`} for the usage.`);
  });

  it.each([
    [['ap', 'list'], '(Did you mean app?)'],
    [['ap', '--help'], '(Did you mean app?)'],
    [['app', 'lst'], '(Did you mean list?)'],
    [['key', 'list', 'my-app', '--jsn'], '(Did you mean --json?)'],
  ])('suggests what %j can mean', async (args, suggestion) => {
    expect(await run(...args)).toMatchObject({ code: 2, out: '', error: expect.stringContaining(suggestion) });
  });

  it.each(['apple', 'Google', 'microsoft', 'windows', 'stripe', 'store_a'])('accepts the store %s', async (store) => {
    const file = ['app', 'set-store', 'my-app', store, '/missing/settings.json'];
    expect(await run('--table', 'none', '--master-key', 'none', ...file)).toMatchObject({
      code: 1,
      error: '/missing/settings.json is not found.\n',
    });
  });

  it('accepts the plural of customer, as in earlier versions', async () => {
    expect((await run('help', 'customers', 'erase')).out).toBe((await run('help', 'customer', 'erase')).out);
  });
});

describe('claimcheck --json', () => {
  // Tests above select a table, and a selected service shows its state without a command.
  beforeAll(() => {
    delete process.env.TABLE_NAME;
  });

  it.each([
    [['--folder', 'none'], /^Pass a command: status, doctor, preflight, app, .+, completion, help\.$/],
    [['key'], /^Pass a command: key create, key list, key revoke\.$/],
  ])('names the commands if it is missing after %j', async (names, message) => {
    const { code, out, error } = await run('--json', ...names);
    expect({ code, out, report: JSON.parse(error) }).toEqual({
      code: 2,
      out: '',
      report: { ok: false, code: 'WrongUsage', message: expect.stringMatching(message) },
    });
  });
});

describe('claimcheck webhooks replay', () => {
  const connection = ['--table', 'none', '--master-key', 'none'];

  it.each([
    [['--dead', '--state', 'delivered']],
    [['--dead', '--to', '2026-01-31']],
    [['wd_1', '--to', '2026-01-31']],
    [['wd_1', '--state', 'dead']],
  ])('rejects %j', async (options) => {
    expect(await run(...connection, 'webhooks', 'replay', 'my-app', ...options)).toMatchObject({
      code: 2,
      out: '',
      error: expect.stringContaining('Pass --to and --state with --from only.'),
    });
  });
});
