import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createStaticFiles } from '../../../lib/http/static-files.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'claimcheck-files-'));
  writeFileSync(join(parent, 'secret.txt'), 'secret');
});
afterEach(() => rmSync(parent, { recursive: true }));

const create = () =>
  createStaticFiles(pathToFileURL(`${join(parent, 'site')}/`), {
    getHeaders: (name) => ({ 'cache-control': name.endsWith('.html') ? 'no-cache' : 'immutable' }),
  });

const writeSite = () => {
  mkdirSync(join(parent, 'site', 'guides'), { recursive: true });
  writeFileSync(join(parent, 'site', 'index.html'), 'index');
  writeFileSync(join(parent, 'site', 'guides', 'image.svg'), '<svg/>');
};

describe('createStaticFiles', () => {
  it('returns files of the folder and of its folders with type, headers and ETag', () => {
    writeSite();
    const files = create();
    expect(files.find('index.html')).toEqual({
      body: 'index',
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        etag: expect.stringMatching(/^W\/"[\w-]{22}"$/),
      },
    });
    expect(files.find('guides/image.svg')?.headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'cache-control': 'immutable',
    });
  });

  it.each([
    '../secret.txt',
    'guides/../../secret.txt',
    '%2e%2e/secret.txt',
    '..%2fsecret.txt',
    'guides',
    '',
    '/',
    'none.html',
  ])('finds nothing at %p', (name) => {
    writeSite();
    expect(create().find(name)).toBeUndefined();
  });

  it('finds the files of a folder that is written later', () => {
    const files = create();
    expect([files.isFolderMissing(), files.find('index.html')]).toEqual([true, undefined]);
    writeSite();
    expect([files.isFolderMissing(), files.find('index.html')?.body]).toEqual([false, 'index']);
  });
});
