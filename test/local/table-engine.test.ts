import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CreateTableCommand, DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isRunning } from '../../lib/foundation/is-running.ts';
import { findFreePort } from '../../local/free-port.ts';
import { findDynoxide, startDynoxide } from '../../local/table-engine/dynoxide.ts';
import { startEngineProcess } from '../../local/table-engine/engine-process.ts';
import { startTableEngine } from '../../local/table-engine/start-table-engine.ts';
import { chooseTempFolder } from '../../local/table-engine/temp-folder.ts';
import { waitFor } from '../../testing/wait-for.ts';

const folder = mkdtempSync(join(tmpdir(), 'claimcheck-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const { TABLE_ENGINE: chosenEngine, JAVA_HOME: javaHome } = process.env;
const restore = (name: string, value: string | undefined): void => {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
};

describe('startTableEngine', () => {
  afterEach(() => {
    delete process.env.DYNAMODB_ENDPOINT;
    restore('TABLE_ENGINE', chosenEngine);
    restore('JAVA_HOME', javaHome);
  });

  it('uses the endpoint in DYNAMODB_ENDPOINT and starts no process', async () => {
    process.env.DYNAMODB_ENDPOINT = 'http://127.0.0.1:1';
    const engine = await startTableEngine();
    expect(engine).toMatchObject({ endpoint: 'http://127.0.0.1:1' });
    expect(engine.pid).toBeUndefined();
  });

  it('rejects an unknown TABLE_ENGINE', async () => {
    process.env.TABLE_ENGINE = 'sqlite';
    await expect(startTableEngine()).rejects.toThrow(
      'TABLE_ENGINE sqlite is not valid: set dynoxide or dynamodb-local.',
    );
  });

  it.each([
    ['dynoxide', 'dynamodb', 'dynamodb-local'],
    ['dynamodb-local', 'dynoxide', 'dynoxide'],
  ])('rejects a data folder that %s did not write', async (engine, otherFolder, otherEngine) => {
    const directory = mkdtempSync(join(folder, 'data-'));
    mkdirSync(join(directory, otherFolder));
    process.env.TABLE_ENGINE = engine;
    await expect(startTableEngine({ directory })).rejects.toThrow(
      `${join(directory, otherFolder)} has the data of another table engine. Start with TABLE_ENGINE=${otherEngine}, or delete`,
    );
  });

  it('keeps the data of a process that was killed', async () => {
    const directory = mkdtempSync(join(folder, 'data-'));
    const TableName = `kept-${randomUUID()}`;
    const first = await startTableEngine({ directory });
    const writer = createClient(first.endpoint);
    await writer.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      }),
    );
    const numbers = Array.from({ length: 200 }, (_, number) => number);
    const Item = (number: number) => ({ pk: { S: `item-${number}` }, text: { S: 'x'.repeat(10_000) } });
    await Promise.all(numbers.map((number) => writer.send(new PutItemCommand({ TableName, Item: Item(number) }))));
    process.kill(first.pid ?? 0, 'SIGKILL');
    await waitFor('the end of the engine', () => !isRunning(first.pid ?? 0));
    const second = await startTableEngine({ directory });
    const reader = createClient(second.endpoint);
    for (const number of numbers) {
      const { pk } = Item(number);
      const { Item: stored } = await reader.send(new GetItemCommand({ TableName, Key: { pk } }));
      expect(stored).toEqual(Item(number));
    }
    await second.close();
  });

  it('terminates with its parent process, even if the parent is killed', async () => {
    const script = `import('./local/table-engine/start-table-engine.ts').then(async (m) => { const t = await m.startTableEngine(); console.log(t.pid); setInterval(() => {}, 1000); })`;
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    const parent = spawn(process.execPath, ['--import', 'tsx', '-e', script], { stdio: [...stdio] });
    const [line] = await once(parent.stdout, 'data');
    const pid = Number(String(line));
    expect(isRunning(pid)).toBe(true);
    parent.kill('SIGKILL');
    await waitFor('the end of the table engine', () => !isRunning(pid));
  });
});

describe('TABLE_ENGINE=dynamodb-local', () => {
  beforeEach(() => {
    process.env.TABLE_ENGINE = 'dynamodb-local';
  });
  afterEach(() => {
    restore('TABLE_ENGINE', chosenEngine);
    restore('JAVA_HOME', javaHome);
  });

  it('explains how to install Java if Java is missing', async () => {
    process.env.JAVA_HOME = join(folder, 'no-java-here');
    await expect(startTableEngine()).rejects.toThrow(/requires Java 11 or later: Java is not installed\. Install Java/);
  });

  it('explains how to install Java if the installed version is too old', async () => {
    process.env.JAVA_HOME = javaThatPrints('java.lang.UnsupportedClassVersionError: class file version 55.0');
    await expect(startTableEngine()).rejects.toThrow(/the installed Java is older\. Install Java/);
  });
});

describe('chooseTempFolder', () => {
  it('chooses the file system in memory if it exists and has enough space', () => {
    expect(chooseTempFolder(folder, 1)).toBe(folder);
    expect(chooseTempFolder(folder, Number.POSITIVE_INFINITY)).toBe(tmpdir());
    expect(chooseTempFolder(join(folder, 'missing'), 1)).toBe(tmpdir());
  });
});

describe('Dynoxide', () => {
  it('starts from the PATH if there is no npm package for the platform', () => {
    const [empty, bin] = [mkdtempSync(join(folder, 'bin-')), mkdtempSync(join(folder, 'bin-'))];
    const packageName = '@dynoxide/another-platform';
    expect(findDynoxide({ packageName, path: `${empty}:${bin}` })).toBeUndefined();
    writeFileSync(join(bin, 'dynoxide'), '#!/bin/sh\n', { mode: 0o755 });
    expect(findDynoxide({ packageName, path: `${empty}:${bin}` })).toBe(join(bin, 'dynoxide'));
  });

  it('starts on a database whose stream records have the columns of the installed version', async () => {
    const binary = findDynoxide();
    if (binary === undefined) throw new Error('Dynoxide is not installed.');
    const [directory, port] = [mkdtempSync(join(folder, 'data-')), await findFreePort()];
    const engine = await startEngineProcess({
      port,
      command: binary,
      commandArguments: ['serve', '--port', String(port), '--db-path', join(directory, 'created.db')],
      cwd: directory,
      explainFailure: (output) => output,
    });
    const created = ['created.db', 'created.db-wal'].map((name) => join(directory, name)).filter(existsSync);
    const schemas = created.flatMap(readStreamSchema);
    await engine.close();
    const [own] = readStreamSchema(fileURLToPath(new URL('../../local/table-engine/stream-index.db', import.meta.url)));
    expect(own).toContain('sequence_number TEXT NOT NULL');
    expect(schemas.at(-1)).toBe(own);
  });

  it('deletes its temporary data after the end of its parent process, even if the parent is killed', async () => {
    const script = `import('./local/table-engine/start-table-engine.ts').then(async (m) => { const t = await m.startTableEngine({ hasStreams: true }); console.log(t.pid); setInterval(() => {}, 1000); })`;
    const parent = spawn(process.execPath, ['--import', 'tsx', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TABLE_ENGINE: 'dynoxide' },
    });
    const [line] = await once(parent.stdout, 'data');
    const command = execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(line).trim()], { encoding: 'utf8' });
    const [, file = ''] = /--db-path (\S+)/.exec(command) ?? [];
    expect(existsSync(file)).toBe(true);
    parent.kill('SIGKILL');
    await waitFor('the deletion of the temporary data', () => !existsSync(dirname(file)));
  });

  it('reports the first line of its output if the start fails', async () => {
    const binary = join(mkdtempSync(join(folder, 'bin-')), 'dynoxide');
    writeFileSync(binary, '#!/bin/sh\necho "error: no such table file" >&2\nexit 1\n', { mode: 0o755 });
    await expect(startDynoxide(binary)).rejects.toThrow(
      `Dynoxide (${binary}) failed to start: error: no such table file.`,
    );
  });
});

/** Finds the definitions of the stream records in a SQLite file, which has them as text. */
const readStreamSchema = (file: string): string[] =>
  (readFileSync(file, 'latin1').match(/CREATE TABLE _stream_records\s*\([^)]*\)/g) ?? []).map((text) =>
    text.replace(/\s+/g, ' '),
  );

const createClient = (endpoint: string): DynamoDBClient =>
  new DynamoDBClient({
    endpoint,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });

function javaThatPrints(text: string): string {
  const home = mkdtempSync(join(folder, 'java-'));
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin', 'java'), `#!/bin/sh\necho "${text}" >&2\nexit 1\n`, { mode: 0o755 });
  return home;
}
