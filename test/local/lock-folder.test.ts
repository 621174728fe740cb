import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lockFolder } from '../../local/lock-folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'claimcheck-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('lockFolder', () => {
  it('rejects a folder that another process uses', async () => {
    const held = lockFolder(folder);
    expect(() => lockFolder(folder)).toThrow(`Process ${process.pid} uses ${folder}`);
    await held.close();
    expect(() => lockFolder(folder)).not.toThrow();
  });

  it('releases the lock of a killed process', () => {
    const beyondEveryPid = 2 ** 30;
    writeFileSync(join(folder, 'pid'), String(beyondEveryPid));
    expect(() => lockFolder(folder)).not.toThrow();
  });

  it.each(['', 'another boot 1'])('releases the lock of a process whose id another process has now: %j', (identity) => {
    writeFileSync(join(folder, 'pid'), `${process.ppid}\n${identity}`);
    expect(() => lockFolder(folder)).not.toThrow();
  });

  it('names a folder that cannot be written', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(() => lockFolder(file)).toThrow(`${file} cannot be written (`);
  });

  it('creates a missing folder', () => {
    lockFolder(join(folder, 'new'));
    expect(existsSync(join(folder, 'new'))).toBe(true);
  });
});
