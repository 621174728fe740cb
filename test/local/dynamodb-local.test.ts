import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { startDynamoDbLocal } from '../../local/dynamodb-local.ts';
import { waitFor } from '../../testing/wait-for.ts';

const folder = mkdtempSync(join(tmpdir(), 'claimcheck-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('startDynamoDbLocal', () => {
  afterEach(() => {
    delete process.env.DYNAMODB_ENDPOINT;
    delete process.env.JAVA_HOME;
  });

  it('uses the endpoint in DYNAMODB_ENDPOINT and starts no process', async () => {
    process.env.DYNAMODB_ENDPOINT = 'http://127.0.0.1:1';
    const table = await startDynamoDbLocal();
    expect(table).toMatchObject({ endpoint: 'http://127.0.0.1:1' });
    expect(table.pid).toBeUndefined();
  });

  it('explains how to install Java if Java is missing', async () => {
    process.env.JAVA_HOME = join(folder, 'no-java-here');
    await expect(startDynamoDbLocal()).rejects.toThrow(
      /requires Java 11 or later: Java is not installed\. Install Java/,
    );
  });

  it('explains how to install Java if the installed version is too old', async () => {
    process.env.JAVA_HOME = javaThatPrints('java.lang.UnsupportedClassVersionError: class file version 55.0');
    await expect(startDynamoDbLocal()).rejects.toThrow(/the installed Java is older\. Install Java/);
  });

  it('reports the port that is in use', async () => {
    const other = createServer().listen(0);
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await expect(startDynamoDbLocal({ port: port ?? 0 })).rejects.toThrow(`Port ${port} `);
    other.close();
  });

  it('terminates with its parent process, even if the parent is killed', async () => {
    const script = `import('./local/dynamodb-local.ts').then(async (m) => { const t = await m.startDynamoDbLocal(); console.log(t.pid); setInterval(() => {}, 1000); })`;
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    const parent = spawn(process.execPath, ['--import', 'tsx', '-e', script], { stdio: [...stdio] });
    const [line] = await once(parent.stdout, 'data');
    const pid = Number(String(line));
    expect(isRunning(pid)).toBe(true);
    parent.kill('SIGKILL');
    await waitFor('the end of DynamoDB Local', () => !isRunning(pid));
  });
});

function javaThatPrints(text: string): string {
  const home = mkdtempSync(join(folder, 'java-'));
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin', 'java'), `#!/bin/sh\necho "${text}" >&2\nexit 1\n`, { mode: 0o755 });
  return home;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
