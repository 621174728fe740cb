import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readApiConnection } from '../../../cli/mcp/api-connection.ts';

const support = { url: 'https://api.example.com', app: 'my-app', key: 'view_1' };

let file: string;
beforeAll(() => {
  file = join(mkdtempSync(join(tmpdir(), 'claimcheck-test-')), 'profiles.json');
  process.env.CLAIMCHECK_PROFILES = file;
});
afterAll(() => {
  rmSync(join(file, '..'), { recursive: true });
  delete process.env.CLAIMCHECK_PROFILES;
});

const read = (content: string) => {
  writeFileSync(file, content, { mode: 0o600 });
  return readApiConnection({ folder: '.local', profile: 'support' });
};

describe('readApiConnection', () => {
  it('reads a profile from a file with a byte order mark', () => {
    expect(read(`\ufeff${JSON.stringify({ support })}`)).toEqual(support);
  });

  it.each([
    ['{"support":\n', ' is not valid JSON: line 2, column 1.'],
    ['[]', ': expected a JSON object.'],
  ])('names the file of the damaged profiles %j', (content, problem) => {
    expect(() => read(content)).toThrow(`${file}${problem}`);
  });
});
