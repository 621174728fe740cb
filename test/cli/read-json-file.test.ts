import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readJsonFile } from '../../cli/read-json-file.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'claimcheck-test-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(content: string | Buffer): string {
  const file = join(folder, 'settings.json');
  writeFileSync(file, content);
  return file;
}

const text = '{"name":"Zoë"}';
const swapBytes = (bytes: Buffer): Buffer => Buffer.from(bytes).swap16();

describe('readJsonFile', () => {
  it.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16, as PowerShell writes it', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16 in the other byte order', swapBytes(Buffer.from(`\ufeff${text}`, 'utf16le'))],
  ])('reads %s', (_encoding, content) => {
    expect(readJsonFile(write(content))).toEqual({ name: 'Zoë' });
  });

  it.each([
    ['', 'is empty.'],
    ['{"a":1,}', 'is not valid JSON: line 1, column 8.'],
    ['[]', 'expected a JSON object.'],
    [Buffer.from('{\n"a":"\xe9"}', 'latin1'), 'is not UTF-8 in line 2. Save it as UTF-8.'],
  ])('names the file and the problem of %j', (content, problem) => {
    const file = write(content);
    expect(() => readJsonFile(file)).toThrow(`${file}${problem.startsWith('expected') ? ':' : ''} ${problem}`);
  });

  it('names a missing file and a folder', () => {
    expect(() => readJsonFile(join(folder, 'none.json'))).toThrow(/none\.json is not found\.$/);
    expect(() => readJsonFile(folder)).toThrow(`${folder} is a folder.`);
  });

  it('does not quote the content, which can be a key', () => {
    expect(() => readJsonFile(write('{"privateKey":"secret",}'))).not.toThrow(/secret/);
  });
});
