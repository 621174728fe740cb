import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { dayMs } from '../../lib/foundation/time.ts';
import { findFreePort } from '../../local/free-port.ts';
import type { LocalService } from '../../local/start-local.ts';
import {
  type ApplicationServer,
  type ReceivedRequest,
  startApplicationServer,
} from '../../testing/application-server.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { callLocalControl } from '../../testing/call-local.ts';
import { spawnSuccessfully } from '../../testing/command-line.ts';
import { readDocument, readSnippet } from '../../testing/documents.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { pythonEnvironment, writeServerModule } from '../../testing/server-clients.ts';
import { waitFor } from '../../testing/wait-for.ts';

const page = 'docs/guides/verify-webhooks.md';

/** The part of Express that the receiver calls. */
const expressModule = `
  import { createServer } from 'node:http';
  export default function express() {
    let handlers = [];
    return {
      post: (_path, ...added) => { handlers = added; },
      listen: (...address) => createServer(async (request, response) => {
        response.sendStatus = (status) => response.writeHead(status).end();
        for (const handle of handlers) await new Promise((next) => Promise.resolve(handle(request, response, next)).then(next));
      }).listen(...address),
    };
  }
  express.raw = () => async (request, _response, next) => {
    request.body = Buffer.concat(await request.toArray());
    next();
  };`;

/** Passes requests to a route of Next.js as the Request of the Fetch standard. */
const nextServer = `
  import { createServer } from 'node:http';
  import { text } from 'node:stream/consumers';
  import { POST } from './route.mjs';
  createServer(async (request, response) => {
    const { method, headers } = request;
    const { status } = await POST(new Request('http://127.0.0.1/', { method, headers, body: await text(request) }));
    response.writeHead(status).end();
  }).listen(process.env.PORT, '127.0.0.1');`;

/** Passes requests to an application as Rack does. */
const rackServer = `
  require 'socket'
  require 'stringio'
  def respond(client, app)
    client.gets
    env = {}
    until (line = client.gets.chomp).empty?
      name, value = line.split(': ', 2)
      env['HTTP_' + name.upcase.tr('-', '_')] = value
    end
    env['rack.input'] = StringIO.new(client.read(env['HTTP_CONTENT_LENGTH'].to_i))
    client.write("HTTP/1.1 #{app.call(env).first} -\\r\\nConnection: close\\r\\n\\r\\n")
    client.close
  end
  def run(app)
    server = TCPServer.new('127.0.0.1', ENV.fetch('PORT').to_i)
    loop { Thread.new(server.accept) { |client| respond(client, app) } }
  end
  load 'receive.ru'`;

/** Files that the receivers of frameworks need, which the project does not install. */
const frameworkFiles = { 'express-module.mjs': expressModule, 'next.mjs': nextServer, 'rack.rb': rackServer };

/** Start of each receiver of the page. `check` ends with 0 if the language is on this machine. */
const languages = [
  { name: 'node', file: 'receive.mjs', command: [process.execPath, 'receive.mjs'], check: ['node', '--version'] },
  { name: 'express', file: 'express.mjs', command: [process.execPath, 'express.mjs'], check: ['node', '--version'] },
  { name: 'next', file: 'route.mjs', command: [process.execPath, 'next.mjs'], check: ['node', '--version'] },
  { name: 'python', file: 'receive.py', command: ['python3', 'receive.py'], check: ['python3', '--version'] },
  { name: 'go', file: 'receive.go', command: ['go', 'run', 'receive.go'], check: ['go', 'version'] },
  {
    name: 'java',
    file: 'Receive.java',
    command: ['java', '-cp', 'lib/*', 'Receive.java'],
    check: ['javac', '--version'],
  },
  { name: 'ruby', file: 'receive.ru', command: ['ruby', 'rack.rb'], check: ['ruby', '-v'] },
  { name: 'php', file: 'receive.php', command: ['php', '-S', '127.0.0.1:PORT', 'receive.php'], check: ['php', '-v'] },
].map((language) => ({
  ...language,
  isInstalled: spawnSync(language.check[0] ?? '', language.check.slice(1)).status === 0,
}));

interface Receiver {
  readonly url: string;
  readonly lines: string[];
}

const receivers = new Map<string, Receiver>();
const processes: ChildProcess[] = [];
let folder: string;
let service: LocalService;
let recorder: ApplicationServer;
let secret: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'claimcheck-receivers-'));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  // DynamoDB Local contains Jackson.
  symlinkSync(resolve('node_modules/amplify-dynamodb-simulator/emulator/DynamoDBLocal_lib'), join(folder, 'lib'));
  for (const [file, code] of Object.entries(frameworkFiles)) writeFileSync(join(folder, file), code);
  recorder = await startApplicationServer();
  service = await startLocalService();
  const ports = await Promise.all(languages.map(findFreePort));
  const urls = languages.flatMap(({ isInstalled }, index) => (isInstalled ? `http://127.0.0.1:${ports[index]}/` : []));
  const set = ['app', 'set-webhook', service.appName, '--url', [recorder.url, ...urls].join(','), '--new-secret'];
  secret = /whsec_\S+/.exec(await spawnSuccessfully(service.environment, set))?.[0] ?? '';
  const installed = languages.map((language, index) => ({ language, port: ports[index] ?? 0 }));
  // All files come first: a start must not read the module of the package while it is written again.
  for (const language of languages) if (language.isInstalled) await saveReceiver(language);
  for (const { language, port } of installed) if (language.isInstalled) startReceiver(language, port);
  await Promise.all([...receivers.values()].map(({ url }) => waitFor(`a receiver at ${url}`, () => responds(url))));
  await buy('alice');
});
afterAll(async () => {
  // A receiver and its children are one process group.
  for (const { pid, exitCode } of processes) if (pid && exitCode === null) process.kill(-pid, 'SIGKILL');
  await service?.close();
  await recorder?.close();
  rmSync(folder, { recursive: true, force: true });
});

const responds = async (url: string): Promise<boolean> =>
  await fetch(url, { method: 'POST' }).then(
    () => true,
    () => false,
  );

/** Saves the code block of the page as a file, like a reader. */
async function saveReceiver({ name, file }: (typeof languages)[number]): Promise<void> {
  const sample = existsSync(`docs/samples/${file}`) ? readDocument(`docs/samples/${file}`) : readSnippet(page, name);
  await writeServerModule(folder, file, sample.replace("'express'", "'./express-module.mjs'"));
}

function startReceiver({ name, command }: (typeof languages)[number], port: number): void {
  const [program = '', ...args] = command.map((part) => part.replace('PORT', String(port)));
  const env = { ...process.env, ...pythonEnvironment, PORT: String(port), WEBHOOK_SECRET: secret };
  const receiver = spawn(program, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  const lines: string[] = [];
  createInterface(receiver.stdout).on('line', (line) => lines.push(line));
  processes.push(receiver);
  receivers.set(name, { url: `http://127.0.0.1:${port}/`, lines });
}

/** Buys a subscription in the emulated store and validates it. */
async function buy(applicationUsername: string): Promise<void> {
  const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', applicationUsername };
  const { validate } = await callLocalControl(service, '/purchases', order);
  const headers = buildBasicAuth(service.appName, service.publicKey);
  await fetch(`${service.baseUrl}/v1/validate`, { method: 'POST', headers, body: JSON.stringify(validate) });
}

/** Waits for the first webhook about a customer. */
async function receive(applicationUsername: string): Promise<ReceivedRequest> {
  const list = () =>
    recorder.requests.filter(({ body }) => JSON.parse(body).applicationUsername === applicationUsername);
  const [first] = await waitFor(`a webhook about ${applicationUsername}`, list, ({ length }) => length > 0);
  if (!first) throw new Error('The webhook is missing.');
  return first;
}

const post = async (url: string, body: string, headers: Record<string, string>): Promise<number> =>
  (await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })).status;

const pickSignature = (headers: ReceivedRequest['headers']): Record<string, string> =>
  Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name])]),
  );

const sign = (body: string, date: Date) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(Math.floor(date.getTime() / 1_000)),
  'webhook-signature': new Webhook(secret).sign('msg_1', date, body),
});

describe.each(languages)('receiver of the page in $name', ({ name, isInstalled }) => {
  // A language that is not on this machine shows as a skipped test.
  const run = isInstalled ? it : it.skip;

  run('accepts a webhook of the service and prints the active products', async () => {
    const { lines } = receivers.get(name) ?? { lines: [] };
    const line = await waitFor(`a line of ${name}`, () => lines.find((text) => text.startsWith('alice ')));
    expect(line).toMatch(/^alice (?:RECEIPT_VALIDATED|PURCHASED) store_a:premium$/);
  });

  run('rejects changed, old and unsigned webhooks', async () => {
    const { url } = receivers.get(name) ?? { url: '' };
    const { body, headers } = await receive('alice');
    const signature = pickSignature(headers);
    expect(await post(url, body, signature)).toBe(204);
    expect(await post(url, body.replace('alice', 'mallory'), signature)).toBe(401);
    expect(await post(url, body, {})).toBe(401);
    for (const timestamp of ['9'.repeat(400), '1e999', '-1', ' ', 'NaN'])
      expect(await post(url, body, { ...signature, 'webhook-timestamp': timestamp })).toBe(401);
    expect(await post(url, body, { ...signature, 'webhook-signature': 'v1,' })).toBe(401);
    expect(await post(url, body, sign(body, new Date()))).toBe(204);
    expect(await post(url, body, sign(body, new Date(Date.now() - 10 * 60_000)))).toBe(401);
    expect(await post(url, body, sign(body, new Date(Date.now() + 10 * 60_000)))).toBe(401);
  });

  run('accepts a test webhook', async () => {
    const { url } = receivers.get(name) ?? { url: '' };
    const body = JSON.stringify({ type: 'test' });
    expect(await post(url, body, sign(body, new Date()))).toBe(204);
  });
});

describe('docs/guides/verify-webhooks.md', () => {
  it('loads the route of Next.js without the secret, like a build', () => {
    const { WEBHOOK_SECRET: _secret, ...env } = process.env;
    const load = spawnSync(process.execPath, ['route.mjs'], { cwd: folder, env, encoding: 'utf8' });
    expect(load).toMatchObject({ stderr: '', status: 0 });
  });

  it('shows fields that a webhook of the service has', async () => {
    const documented = JSON.parse(readSnippet(page, 'body'));
    const { body } = await receive('alice');
    const sent = JSON.parse(body);
    const [example] = Object.values<object>(documented.purchases);
    expect(Object.keys(sent)).toEqual(expect.arrayContaining(Object.keys(documented)));
    expect(Object.keys(sent.notification)).toEqual(expect.arrayContaining(Object.keys(documented.notification)));
    expect(Object.keys(sent.purchases['store_a:premium'])).toEqual(expect.arrayContaining(Object.keys(example ?? {})));
  });

  it('verifies a webhook that was sent after the emulated clock was advanced, with emulated dates', async () => {
    await callLocalControl(service, '/clock', { advance: 'P1M1D' });
    await buy('bert');
    const { body, headers } = await receive('bert');
    expect(() => new Webhook(secret).verify(body, pickSignature(headers))).not.toThrow();
    const { notification } = JSON.parse(body);
    expect(Date.parse(notification.date) - Date.now()).toBeGreaterThan(27 * dayMs);
    for (const { lines } of receivers.values())
      await waitFor('the line of a receiver', () => lines.some((line) => line.startsWith('bert ')));
  });
});
