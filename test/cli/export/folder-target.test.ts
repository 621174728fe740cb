import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createFolderTarget } from '../../../cli/export/folder-target.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'claimcheck-test-'));
  writeFileSync(join(folder, 'notes.txt'), 'notes');
  writeFileSync(join(folder, 'export.json'), '{"app":');
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('createFolderTarget', () => {
  it.each([
    ['notes.txt', 'is a file and not a folder.'],
    [join('notes.txt', 'exports'), 'is not found: a part of its path is a file.'],
  ])('names %s as the folder that it cannot write', async (name, problem) => {
    const path = join(folder, name);
    await expect(createFolderTarget(path)).rejects.toMatchObject({
      code: 'InvalidPayload',
      message: `${path} ${problem}`,
    });
  });

  it('names the file of a damaged state', async () => {
    const target = await createFolderTarget(folder);
    await expect(target.readState()).rejects.toThrow(`${join(folder, 'export.json')}: The content is not valid JSON.`);
  });
});
