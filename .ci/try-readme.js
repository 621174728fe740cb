// Starts the service as the README says, pastes the README's lines into a shell, and stops the service again.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const readyFile = '.local/ready.json';
const startWithinMs = 60_000;

console.log(`Node ${process.version}`);
const lines = /```sh paste\n([\s\S]*?)```/.exec(readFileSync('README.md', 'utf8'))?.[1];
if (!lines) throw new Error('README.md has no block marked "sh paste".');

const port = await freePorts();
const service = spawn('npm', ['start'], {
  env: { ...process.env, PORT: String(port), DATA: 'memory' },
  stdio: ['ignore', 'inherit', 'pipe'],
  detached: true,
});
const ended = once(service, 'exit');
let warnings = '';
service.stderr.on('data', (chunk) => {
  process.stderr.write(chunk);
  warnings += chunk;
});
try {
  await ready();
  const pasted = spawnSync('bash', ['-euo', 'pipefail', '-c', lines], {
    encoding: 'utf8',
    env: { ...process.env, PORT: String(port) },
  });
  console.log(pasted.stdout, pasted.stderr);
  if (pasted.status !== 0) throw new Error(`The README's lines ended with ${pasted.status}.`);
  if (!/"isExpired":\s*false/.test(pasted.stdout))
    throw new Error("The README's lines did not show an active purchase.");
} finally {
  // As Ctrl-C does: to the whole foreground group.
  process.kill(-service.pid, 'SIGINT');
  await Promise.race([ended, sleep(15_000)]);
}
for (const used of [port, port + 1])
  if (!(await isFree(used))) throw new Error(`Something still listens on port ${used}.`);
if (existsSync(readyFile)) throw new Error(`${readyFile} is still there.`);
if (/Warning/.test(warnings)) throw new Error('npm start printed a warning of Node.');
console.log('The README works, and nothing is left running.');

async function ready() {
  const deadline = Date.now() + startWithinMs;
  while (!existsSync(readyFile)) {
    if (service.exitCode !== null) throw new Error(`npm start ended with ${service.exitCode}.`);
    if (Date.now() > deadline) throw new Error('npm start was not ready in time.');
    await sleep(100);
  }
}

/** Two neighbouring ports that are free: for the service and for the emulator. */
async function freePorts() {
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
