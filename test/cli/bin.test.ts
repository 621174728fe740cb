import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectFolder } from '../../infra/project-folder.ts';

const { version, bin } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'));

const spawnBin = (args: readonly string[], options: SpawnSyncOptions = {}) =>
  // In any folder.
  spawnSync(process.execPath, [join(projectFolder, bin.claimcheck), ...args], {
    cwd: tmpdir(),
    ...options,
    encoding: 'utf8',
  });

const run = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnBin(args);
  return { status, stdout, stderr };
};

describe('bin.ts of the command line', () => {
  it('prints its version', () => {
    expect(run('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
    expect(run('-V').stdout).toBe(`${version}\n`);
  });

  it('ends with the exit code of the command', () => {
    expect(run('app', 'create')).toMatchObject({ status: 2, stdout: '' });
  });

  (existsSync('/dev/full') ? it : it.skip)('reports an output that cannot be written, without a stack trace', () => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnBin(['--help'], { stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'The output cannot be written: ENOSPC: no space left on device, write\n',
    });
  });
});
