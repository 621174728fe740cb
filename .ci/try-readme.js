// Starts the service as the README says, pastes the README's lines into a shell, and stops the service again.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { withService } from './start-service.js';

console.log(`Node ${process.version}`);
const blocks = readFileSync('README.md', 'utf8').matchAll(/```sh paste\n([\s\S]*?)```/g);
const lines = [...blocks].map(([, text]) => text).join('');
if (lines === '') throw new Error('README.md has no block marked "sh paste".');

await withService(async ({ port }) => {
  const pasted = spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', lines], {
    encoding: 'utf8',
    env: { ...process.env, PORT: String(port) },
  });
  console.log(pasted.stdout, pasted.stderr);
  if (pasted.status !== 0) throw new Error(`The README's lines ended with ${pasted.status}.`);
  for (const isActive of [true, false])
    if (!new RegExp(`"isActive":\\s*${isActive}`).test(pasted.stdout))
      throw new Error(`The README's lines did not show an entitlement with isActive ${isActive}.`);
  if (!/"reason":\s*"RENEWED"/.test(pasted.stdout)) throw new Error("The README's lines did not show a renewal.");
});
console.log('The README works, and nothing is left running.');
