import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lockImport } from '../../../cli/import/lock-file.ts';
import { loadProgress } from '../../../cli/import/progress-file.ts';
import { openRefusedRows } from '../../../cli/import/refused-rows.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'claimcheck-test-'));
  path = join(folder, 'purchases.csv');
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

describe('lockImport', () => {
  it('rejects a second import of the file until the first has ended', async () => {
    const lock = await lockImport(path);
    await expect(lockImport(path)).rejects.toMatchObject({
      code: 'Conflict',
      message: `${path} is being imported by process ${process.pid}. Wait until it has ended. If that process is not an import, delete ${path}.lock.`,
    });
    await lock.release();
    await (await lockImport(path)).release();
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it('gives the lock to one of several imports that start at once', async () => {
    const results = await Promise.allSettled(Array.from({ length: 8 }, async () => await lockImport(path)));
    const locks = results.filter(({ status }) => status === 'fulfilled');
    expect(locks).toHaveLength(1);
    await rm(`${path}.lock`);
  });

  it.each([['of an ended process'], ['without an id'], ['of an ended process that had the id of this one']])(
    'ignores a lock %s',
    async (kind) => {
      const ended = spawn(process.execPath, ['--version']);
      await once(ended, 'exit');
      const pid = kind === 'of an ended process' ? ended.pid : process.pid;
      await writeFile(`${path}.lock`, kind === 'without an id' ? '' : String(pid));
      await (await lockImport(path)).release();
    },
  );

  it.each(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])(
    'locks a file on a file system without hard links (%s)',
    async (code) => {
      const createLink = async () => {
        throw Object.assign(new Error('not supported'), { code });
      };
      const lock = await lockImport(path, createLink);
      await expect(lockImport(path, createLink)).rejects.toMatchObject({ code: 'Conflict' });
      await lock.release();
      await writeFile(`${path}.lock`, String(process.ppid));
      await expect(lockImport(path, createLink)).rejects.toMatchObject({ code: 'Conflict' });
      await rm(`${path}.lock`);
    },
  );

  it('rejects a file in a folder that does not exist', async () => {
    await expect(lockImport(join(folder, 'missing', 'purchases.csv'))).rejects.toMatchObject({
      code: 'InvalidPayload',
      message: expect.stringContaining('cannot be written'),
    });
  });
});

describe('loadProgress', () => {
  beforeEach(async () => await writeFile(path, 'platform,token\n'));

  const load = async () =>
    await loadProgress({
      path,
      app: 'my-app',
      isUnannounced: true,
      givesCredits: false,
      isResumed: true,
    });

  it.each([
    ['', 'The content is not valid JSON.'],
    ['{"version":2}', 'version: expected 1.'],
  ])('names the file of the damaged progress %j', async (content, problem) => {
    await writeFile(`${path}.progress`, content);
    await expect(load()).rejects.toThrow(`${path}.progress: ${problem}`);
  });

  it('names a progress file that cannot be read', async () => {
    await mkdir(`${path}.progress`);
    await expect(load()).rejects.toThrow(`${path}.progress is a folder.`);
  });
});

describe('openRefusedRows', () => {
  it('says how to continue an import whose report was deleted', async () => {
    const restart = `delete ${path}.progress to start again, which imports nothing twice.`;
    await expect(openRefusedRows(path, 'csv', 120)).rejects.toMatchObject({
      code: 'Conflict',
      message: `${path}.refused.csv is not found. Restore it, or ${restart}`,
    });
  });
});
