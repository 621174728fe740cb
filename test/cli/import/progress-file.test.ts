import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { loadProgress } from '../../../cli/import/progress-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'claimcheck-test-'));
  writeFileSync(join(folder, 'rows.csv'), 'platform,token\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('loadProgress', () => {
  const load = async () =>
    await loadProgress({
      path: join(folder, 'rows.csv'),
      app: 'my-app',
      isUnannounced: true,
      givesCredits: false,
      isResumed: true,
    });

  it.each([
    ['', 'The content is not valid JSON.'],
    ['{"version":2}', 'version: expected 1.'],
  ])('names the file of the damaged progress %j', async (content, problem) => {
    writeFileSync(join(folder, 'rows.csv.progress'), content);
    await expect(load()).rejects.toThrow(`${join(folder, 'rows.csv.progress')}: ${problem}`);
  });

  it('names a progress file that cannot be read', async () => {
    mkdirSync(join(folder, 'rows.csv.progress'));
    await expect(load()).rejects.toThrow(`${join(folder, 'rows.csv.progress')} is a folder.`);
  });
});
