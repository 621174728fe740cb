import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { dayMs } from '../../lib/foundation/time.ts';
import { buildSources, linkBuild } from '../../local/build-cache.ts';

let folder: string;
let cache: { readonly project: string; readonly folder: string };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'claimcheck-test-'));
  cache = { project: join(folder, 'project'), folder: join(folder, 'cache') };
  for (const source of buildSources) writeSource(/\.json$/.test(source) ? source : `${source}/main.ts`, source);
});
afterEach(() => rmSync(folder, { recursive: true }));

function writeSource(path: string, content: string): void {
  const file = join(cache.project, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

const build = jest.fn(async (target: string) => {
  writeFileSync(join(target, 'output.txt'), readFileSync(join(cache.project, 'lib', 'main.ts'), 'utf8'));
});
beforeEach(() => void build.mockClear());

let copies = 0;

async function copyOutput(name = 'service'): Promise<string> {
  const target = join(folder, `copy-${copies++}`);
  await linkBuild(name, target, build, cache);
  return readFileSync(join(target, 'output.txt'), 'utf8');
}

describe('linkBuild', () => {
  it('runs a build once and copies its output for each later start', async () => {
    expect([await copyOutput(), await copyOutput(), await copyOutput()]).toEqual(['lib', 'lib', 'lib']);
    expect(build).toHaveBeenCalledTimes(1);
  });

  it('runs each build of the same sources', async () => {
    await copyOutput('service');
    await copyOutput('cli');
    expect(build).toHaveBeenCalledTimes(2);
  });

  it('builds again after a source has changed', async () => {
    await copyOutput();
    writeSource('lib/main.ts', 'changed');
    expect(await copyOutput()).toBe('changed');
  });

  it('uses the earlier output after a change was reverted', async () => {
    await copyOutput();
    writeSource('lib/main.ts', 'changed');
    await copyOutput();
    writeSource('lib/main.ts', 'lib');
    expect(await copyOutput()).toBe('lib');
    expect(build).toHaveBeenCalledTimes(2);
  });

  it.each(buildSources)('builds again after a change of %s', async (source) => {
    await copyOutput();
    writeSource(/\.json$/.test(source) ? source : `${source}/added.ts`, 'changed');
    await copyOutput();
    expect(build).toHaveBeenCalledTimes(2);
  });

  it('does not keep the output of sources that changed during the build', async () => {
    build.mockImplementationOnce(async (target) => {
      writeFileSync(join(target, 'output.txt'), 'mixed');
      writeSource('lib/main.ts', 'changed');
    });
    expect(await copyOutput()).toBe('mixed');
    writeSource('lib/main.ts', 'lib');
    expect(await copyOutput()).toBe('lib');
  });

  it('does not keep the output of a failed build', async () => {
    build.mockImplementationOnce(async (target) => {
      writeFileSync(join(target, 'output.txt'), 'partial');
      throw new Error('The build failed.');
    });
    await expect(copyOutput()).rejects.toThrow('The build failed.');
    expect(await copyOutput()).toBe('lib');
  });

  it('runs one build for starts at the same time', async () => {
    expect(await Promise.all([copyOutput(), copyOutput(), copyOutput()])).toEqual(['lib', 'lib', 'lib']);
    expect(build).toHaveBeenCalledTimes(1);
    expect(readdirSync(cache.folder).filter((name) => !name.endsWith('.lock'))).toHaveLength(1);
  });

  it('leaves the folder of the lock, because another process may be locking it', async () => {
    await copyOutput();
    const [lock = ''] = readdirSync(cache.folder).filter((name) => name.endsWith('.lock'));
    expect(readdirSync(join(cache.folder, lock))).toEqual([]);
  });

  it('runs the build if the process that started it has ended', async () => {
    await copyOutput();
    const [cached = ''] = readdirSync(cache.folder);
    rmSync(join(cache.folder, cached), { recursive: true });
    // Above the maximum process id of Linux.
    writeFileSync(join(cache.folder, `${cached}.lock`, 'pid'), String(2 ** 22 + 1));
    expect(await copyOutput()).toBe('lib');
    expect(build).toHaveBeenCalledTimes(2);
  });

  it('deletes the output of older sources after a day', async () => {
    await copyOutput();
    const [old = ''] = readdirSync(cache.folder);
    const date = new Date(Date.now() - 2 * dayMs);
    utimesSync(join(cache.folder, old), date, date);
    writeSource('lib/main.ts', 'changed');
    await copyOutput();
    expect(readdirSync(cache.folder)).not.toContain(old);
  });

  it('runs a build once, and gives each later start the files of the cache', async () => {
    const targets = ['first', 'second', 'third'].map((name) => join(folder, name));
    for (const target of targets) await linkBuild('service', target, build, cache);
    expect(targets.map((target) => readFileSync(join(target, 'output.txt'), 'utf8'))).toEqual(['lib', 'lib', 'lib']);
    expect(build).toHaveBeenCalledTimes(1);
    // The cache, the second and the third.
    expect(statSync(join(folder, 'third', 'output.txt')).nlink).toBe(3);
  });

  it('keeps the files of a start after their output is deleted from the cache', async () => {
    const target = join(folder, 'running');
    await copyOutput();
    await linkBuild('service', target, build, cache);
    rmSync(cache.folder, { recursive: true });
    expect(readFileSync(join(target, 'output.txt'), 'utf8')).toBe('lib');
  });
});
