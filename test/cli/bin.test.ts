import { type SpawnSyncOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
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

  it('ends doctor if the table accepts connections and never responds', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const args = ['--json', '--table', 'silent', '--master-key', 'silent', 'doctor', '--timeout', '1'];
    const doctor = spawn(process.execPath, [join(projectFolder, bin.claimcheck), ...args], {
      env: {
        ...process.env,
        AWS_ENDPOINT_URL: url,
        AWS_ENDPOINT_URL_DYNAMODB: url,
        AWS_ACCESS_KEY_ID: 'id',
        AWS_SECRET_ACCESS_KEY: 'secret',
        AWS_REGION: 'eu-west-1',
      },
    });
    const [report, [code]] = await Promise.all([text(doctor.stdout), once(doctor, 'exit')]);
    server.close();
    expect(code).toBe(3);
    expect(JSON.parse(report).checks).toContainEqual(expect.objectContaining({ name: 'apps', result: 'failed' }));
  }, 60_000);
});
