import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openRefusedRows } from '../../../cli/import/refused-rows.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'claimcheck-test-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('openRefusedRows', () => {
  it('says how to continue an import whose report was deleted', async () => {
    const path = join(folder, 'rows.csv');
    const restart = `delete ${path}.progress to start again, which imports nothing twice.`;
    await expect(openRefusedRows(path, 'csv', 120)).rejects.toMatchObject({
      code: 'Conflict',
      message: `${path}.refused.csv is not found. Restore it, or ${restart}`,
    });
  });
});
