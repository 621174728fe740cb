// Starts `npm start` on free ports and stops it as Ctrl-C does.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const readyFile = '.local/ready.json';
const startWithinMs = 120_000;
const isWindows = process.platform === 'win32';

/**
 * Calls `use` with the content of the ready file while the service runs. Throws if the service leaves something behind.
 */
export async function withService(use) {
  const port = await findFreePorts();
  const service = spawn('npm', ['start'], {
    env: { ...process.env, PORT: String(port), DATA: 'memory' },
    stdio: ['ignore', 'inherit', 'pipe'],
    // Windows starts npm.cmd through a shell only.
    shell: isWindows,
    detached: !isWindows,
  });
  const ended = once(service, 'exit');
  let warnings = '';
  service.stderr.on('data', (chunk) => {
    process.stderr.write(chunk);
    warnings += chunk;
  });
  try {
    await waitUntilReady(service);
    await use({ port, ...JSON.parse(readFileSync(readyFile, 'utf8')) });
  } finally {
    interrupt(service);
    await Promise.race([ended, sleep(15_000)]);
  }
  for (const used of [port, port + 1])
    if (!(await isFree(used))) throw new Error(`Something still listens on port ${used}.`);
  if (!isWindows && existsSync(readyFile)) throw new Error(`${readyFile} is still there.`);
  if (/Warning/.test(warnings)) throw new Error('npm start printed a warning of Node.');
}

/**
 * Ends the whole foreground group as Ctrl-C does. On Windows it kills the process tree, because a process cannot send
 * Ctrl-C there.
 */
function interrupt(service) {
  if (isWindows) spawnSync('taskkill', ['/pid', String(service.pid), '/t', '/f']);
  else process.kill(-service.pid, 'SIGINT');
}

async function waitUntilReady(service) {
  const deadline = Date.now() + startWithinMs;
  while (!existsSync(readyFile)) {
    if (service.exitCode !== null) throw new Error(`npm start ended with ${service.exitCode}.`);
    if (Date.now() > deadline) throw new Error('npm start was not ready in time.');
    await sleep(100);
  }
}

/** Finds two neighbouring ports that are free: for the service and for the emulator. */
async function findFreePorts() {
  for (let candidate = 4400; candidate < 4500; candidate += 2) {
    if ((await isFree(candidate)) && (await isFree(candidate + 1))) return candidate;
  }
  throw new Error('No two free ports.');
}

function isFree(candidate) {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(candidate, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
