// Calls a running service with the generated clients, and fuzzes it with schemathesis. Arguments: the available
// languages and tools, of `typescript`, `python`, `go` and `schemathesis`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withService } from './start-service.js';

const folder = '.ci/openapi';
const tools = new Set(process.argv.slice(2));

/** Commands that run the generated clients. */
const clients = {
  typescript: ['node', `${folder}/.generated/client.js`],
  python: [`${folder}/.venv/bin/python`, `${folder}/.generated/client.py`],
  go: [`${folder}/.generated/go-client`],
};

await withService(async (service) => {
  for (const [language, [command, ...args]] of Object.entries(clients))
    if (tools.has(language))
      await run(command, args, { ...toEnvironment(service), RECEIPT: await buy(service, language) });
  if (tools.has('schemathesis')) await fuzz(service);
});

function toEnvironment({ baseUrl, app, publicKey, secretKey }) {
  return { API: baseUrl, APP: app, PUBLIC: publicKey, SECRET: secretKey };
}

/** Runs a command without blocking: the webhooks of the service are printed, and idle connections notice their end. */
async function run(command, args, env) {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new Error(`${command} ended with ${status}.`);
}

/** Buys a subscription in the emulated App Store. Returns the body that the app sends. */
async function buy({ emulatorUrl }, customer) {
  const order = { platform: 'store_a', productId: customer, type: 'paid subscription', applicationUsername: customer };
  const body = JSON.stringify({ ...order, form: 'product' });
  const response = await fetch(`${emulatorUrl}/control/purchases`, { method: 'POST', body });
  if (!response.ok) throw new Error(await response.text());
  return JSON.stringify((await response.json()).validate);
}

/**
 * Fuzzes with random values, also invalid ones. Then fuzzes with the ids of a recorded purchase, which random values do
 * not reach, and with the bounds of each parameter.
 */
async function fuzz(service) {
  const { baseUrl, app, publicKey, secretKey } = service;
  const validated = await call(`${baseUrl}/v1/validate`, `${app}:${publicKey}`, await buy(service, 'fuzz'));
  const [{ purchaseId, transactionId }] = validated.data.collection;
  const { rows } = await call(`${baseUrl}/v3/events`, `${app}:${secretKey}`);
  const known = {
    'path.applicationUsername': 'fuzz',
    'path.purchaseId': `store_a:${purchaseId}`,
    'path.transactionId': `store_a:${transactionId}`,
    'path.appName': app,
    'path.tag': 'fuzz',
  };
  const config = mkdtempSync(join(tmpdir(), 'claimcheck-schemathesis-'));
  try {
    const runs = [
      { parameters: {}, options: ['--phases', 'examples,fuzzing', '--mode', 'all', '--max-examples', '5'] },
      {
        parameters: known,
        options: ['--phases', 'examples,coverage,fuzzing', '--mode', 'positive', '--max-examples', '10'],
      },
    ];
    for (const { parameters, options } of runs) {
      const file = join(config, 'schemathesis.toml');
      writeFileSync(file, toToml(parameters, rows[0].eventId));
      await runSchemathesis(service, file, options);
    }
  } finally {
    rmSync(config, { recursive: true });
  }
}

/** `path.id` is an event in the paths of events. */
function toToml(parameters, eventId) {
  const names = Object.entries(parameters).map(([name, value]) => `${JSON.stringify(name)} = ${JSON.stringify(value)}`);
  if (names.length === 0) return '';
  const events = `[[operations]]\ninclude-path-regex = "^/v3/events/"\nparameters = { "path.id" = ${JSON.stringify(eventId)} }`;
  return `[parameters]\n${names.join('\n')}\n${events}\n`;
}

async function runSchemathesis({ baseUrl, app, secretKey }, configFile, options) {
  const checks = [
    'not_a_server_error',
    'status_code_conformance',
    'content_type_conformance',
    'response_headers_conformance',
    'response_schema_conformance',
  ];
  const authorization = `Authorization: Basic ${Buffer.from(`${app}:${secretKey}`).toString('base64')}`;
  // One worker: CPython 3.11 fails at times if two threads parse code
  // (https://github.com/python/cpython/issues/106905).
  await run(`${folder}/.venv/bin/schemathesis`, [
    ...['--config-file', configFile, 'run', 'dist/openapi.json', ...options],
    ...['--url', baseUrl, '--header', authorization, '--checks', checks.join(',')],
    ...['--seed', '1', '--workers', '1', '--no-color'],
    ...['--suppress-health-check', 'all', '--warnings', 'off'],
  ]);
}

async function call(url, credentials, body) {
  const headers = { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
  const response = await fetch(url, { headers, ...(body && { method: 'POST', body }) });
  if (!response.ok) throw new Error(await response.text());
  return await response.json();
}
