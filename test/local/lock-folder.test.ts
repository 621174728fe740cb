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

describe('a folder of data', () => {
  it('is used by one process at a time', async () => {
    const held = lockFolder(folder);
    expect(() => lockFolder(folder)).toThrow(`Process ${process.pid} uses ${folder}`);
    await held.close();
    expect(() => lockFolder(folder)).not.toThrow();
  });

  it('is free again after the process that used it was killed', () => {
    const beyondEveryPid = 2 ** 30;
    writeFileSync(join(folder, 'pid'), String(beyondEveryPid));
    expect(() => lockFolder(folder)).not.toThrow();
  });

  it('is made when it does not exist', () => {
    lockFolder(join(folder, 'new'));
    expect(existsSync(join(folder, 'new'))).toBe(true);
  });
});
