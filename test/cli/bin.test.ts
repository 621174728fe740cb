import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectFolder } from '../../infra/project-folder.ts';

const { version, bin } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'));

const run = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(projectFolder, bin.claimcheck), ...args], {
    // In any folder.
    cwd: tmpdir(),
    encoding: 'utf8',
  });
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
});
