import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import { findBundle, servicePrograms } from '../../infra/program.js';
import { assertPortFree } from '../../local/free-port.ts';

const folder = mkdtempSync(join(tmpdir(), 'claimcheck-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const command = fileURLToPath(new URL('../../local/start.js', import.meta.url));

/** Runs `npm start` in its own folder. */
function start(environment: Readonly<Record<string, string>>, args: readonly string[] = []): ChildProcess {
  const { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: _disabled, ...present } = process.env;
  const env = { ...present, DATA: 'memory', ...environment };
  return spawn(process.execPath, [command, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function failure(
  environment: Readonly<Record<string, string>>,
  args?: readonly string[],
): Promise<{ code: number; output: string }> {
  const child = start(environment, args);
  const [output, [code]] = await Promise.all([child.stderr ? text(child.stderr) : '', once(child, 'exit')]);
  return { code, output };
}

/**
 * Finds a free even port whose successor, the emulator's port, is free too, so that two pairs never overlap by one. The
 * ports are below the range of `findFreePort`: no other test can take one before the service listens.
 */
async function freePorts(): Promise<number> {
  const port = 2 * randomInt(2_500, 5_000);
  const isPair = await Promise.all([port, port + 1].map(async (one) => await assertPortFree(one, 'the test'))).then(
    () => true,
    () => false,
  );
  return isPair ? port : await freePorts();
}

/** Waits until the process has written the file. Throws with what the process printed if it exits before. */
async function readyIn(file: string, child: ChildProcess): Promise<Readonly<Record<string, string>>> {
  let printed = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    printed += chunk.toString('utf8');
  });
  while (!existsSync(file)) {
    if (child.exitCode !== null) throw new Error(`npm start exited with ${child.exitCode}: ${printed}`);
    await sleep(50);
  }
  return JSON.parse(readFileSync(file, 'utf8'));
}

describe('npm start', () => {
  it('reports the port in use in one line and exits with 1', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { code, output } = await failure({ PORT: String(port) });
    other.close();
    expect(output).toMatch(new RegExp(`^Port ${port} for the service is in use\\. .+\\.\\n$`));
    expect(code).toBe(1);
  });

  it('explains how to install Java in one line, before anything else, and exits with 1', async () => {
    const environment = { TABLE_ENGINE: 'dynamodb-local', JAVA_HOME: join(folder, 'nowhere') };
    // It then checks the port.
    const { code, output } = await failure({ PORT: 'four thousand', ...environment });
    expect(output).toMatch(/^DynamoDB Local requires Java 11 or later: Java is not installed\. .+\.\n$/);
    expect(code).toBe(1);
  });

  it.each([
    ['PORT', 'four thousand'],
    ['DATA', 'disk'],
  ])('rejects an invalid %s', async (name, value) => {
    const { code, output } = await failure({ PORT: String(await freePorts()), [name]: value });
    expect(output).toMatch(new RegExp(`^${name} ${value} is not valid: .+\\.\\n$`));
    expect(code).toBe(1);
  });

  it('rejects an argument and names the variable', async () => {
    const { code, output } = await failure({ PORT: String(await freePorts()) }, ['--port', '5000']);
    expect(output).toBe('npm start has no option --port. Its options are variables: PORT=5000 npm start.\n');
    expect(code).toBe(1);
  });

  it('keeps the files of a running service, writes ready.json and removes it at exit, and prints no warning', async () => {
    const [port, next] = [await freePorts(), await freePorts()];
    const first = start({ PORT: String(port) });
    const printed = first.stdout ? text(first.stdout) : Promise.resolve('');
    const warnings = first.stderr ? text(first.stderr) : Promise.resolve('');
    const file = join(folder, '.local', 'ready.json');
    const ready = await readyIn(file, first);
    expect(ready).toEqual({
      baseUrl: `http://127.0.0.1:${port}`,
      emulatorUrl: `http://127.0.0.1:${port + 1}`,
      consoleUrl: `http://127.0.0.1:${port}/console#app=demo&key=${ready.secretKey}`,
      app: 'demo',
      publicKey: expect.stringMatching(/^pub_/),
      secretKey: expect.stringMatching(/^sec_/),
      signingSecret: expect.stringMatching(/^whsec_/),
    });
    expect((await fetch(`${ready.baseUrl}/v3`)).status).toBe(200);

    const second = start({ PORT: String(next) });
    const printedBySecond = second.stdout ? text(second.stdout) : Promise.resolve('');
    const own = join(folder, '.local', `port-${next}`);
    expect(await readyIn(join(own, 'ready.json'), second)).toMatchObject({ baseUrl: `http://127.0.0.1:${next}` });
    second.kill('SIGINT');
    await once(second, 'exit');
    expect(await printedBySecond).toContain(`--local --folder ${join('.local', `port-${next}`)}`);
    expect(existsSync(own)).toBe(false);
    const { output } = await failure({ PORT: String(await freePorts()), DATA: '' });
    expect(output).toMatch(/^Process \d+ uses .+\. Stop it, or start with DATA=memory\.\n$/);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(ready);

    first.kill('SIGINT');
    expect(await once(first, 'exit')).toEqual([0, null]);
    expect(await printed).toMatch(/^Starting Claimcheck\. /);
    expect(await printed).toContain(`Public key   ${ready.publicKey}\n`);
    expect(await printed).toContain('\n  npm run demo\n');
    expect(await printed).toContain(`stop.\n\n  ${ready.consoleUrl}\n`);
    // At exit, the log can name a scheduled run that was stopped.
    expect(await warnings).not.toMatch(/Warning/);
    expect(existsSync(file)).toBe(false);
    await assertPortFree(port, 'the service');
    await assertPortFree(port + 1, 'the emulator');
  });

  it('builds the programs that it runs', () => {
    for (const file of ['run-service.mjs', 'build-service.mjs'])
      expect(existsSync(join(findBundle(servicePrograms), file))).toBe(true);
  });
});
