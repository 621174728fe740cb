import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The file that `npm start` writes for scripts. */
export interface DemoService {
  readonly baseUrl: string;
  readonly emulatorUrl?: string;
  readonly consoleUrl: string;
  readonly app: string;
  readonly publicKey: string;
  readonly secretKey: string;
}

type Print = (text: string) => void;
// biome-ignore lint/suspicious/noExplicitAny: the demo shows responses of every shape.
type Json = any;

/** A catalogue takes effect within 15 seconds. A slow machine renews later than that. */
const timeoutMs = 60_000;
const maxShownLength = 60;

/** Reads the file that `npm start` writes. Throws an error that names the next step. */
export function readDemoService(folder: string): DemoService {
  try {
    return JSON.parse(readFileSync(join(folder, 'ready.json'), 'utf8'));
  } catch (cause) {
    throw new Error('No service is running in this folder. Run npm start in another terminal, and wait for its URL.', {
      cause,
    });
  }
}

/** Plays a subscription from its purchase to its renewal, and prints each request with its response. */
export async function playDemo(service: DemoService, print: Print): Promise<void> {
  const { baseUrl, emulatorUrl, consoleUrl, app, publicKey, secretKey } = service;
  if (emulatorUrl === undefined) throw new Error('The demo buys in the emulated stores. Start without STORES=real.');
  const asApp = `${app}:${publicKey}`;
  const asServer = `${app}:${secretKey}`;

  await nameProducts(`${baseUrl}/v3/catalogue`, asServer, print);
  const { id, validate, username } = await buy(emulatorUrl, print);
  print('\n3. Her app sends the receipt, with the public key.');
  await show(print, `${baseUrl}/v1/validate`, { key: asApp, body: validate });
  print('\n4. Your server asks what she may use.');
  const entitlements = `${baseUrl}/v3/customers/${username}/entitlements`;
  await waitFor(entitlements, asServer, ({ entitlements: all }) => Object.keys(all).length > 0);
  await show(print, entitlements, { key: asServer });

  const renewing = await listRenewing(emulatorUrl);
  print('\n5. A month later, the paid period has ended.');
  await show(print, `${emulatorUrl}/control/clock`, { body: { advance: 'P1M1D' } });
  await show(print, entitlements, { key: asServer });

  print(
    '\n6. The store renews the subscription and notifies the service, which calls your server (see the other terminal).',
  );
  for (const purchaseId of renewing) await call(`${emulatorUrl}/control/purchases/${purchaseId}/renew`, { body: {} });
  const purchase = `${baseUrl}/v3/purchases/store_a:${id}?include_notifications=true`;
  if (!(await waitFor(purchase, asServer, (body) => JSON.stringify(body).includes('RENEWED'))))
    throw new Error('The renewal did not arrive within a minute.');
  await show(print, purchase, { key: asServer });
  print(`\nThe console shows ${username} and each request: ${consoleUrl}`);
}

/** Adds the entitlement of the product to the catalogue, and keeps all that the user has set. */
async function nameProducts(url: string, key: string, print: Print): Promise<void> {
  const { status, body: present } = await call(url, { key });
  if (status === 401) throw new Error('The secret key was replaced. Stop npm start with Ctrl-C, and start it again.');
  const body = { 'store_a:premium': { type: 'paid subscription', entitlements: ['premium'] }, ...present };
  print('1. The catalogue names what a product gives, with the secret key of your server.');
  await show(print, url, { key, body, method: 'PUT' });
}

/** A customer buys a subscription once, so a repeated demo has another customer. */
async function buy(emulatorUrl: string, print: Print) {
  for (let number = 1; ; number += 1) {
    const username = number === 1 ? 'alice' : `alice-${number}`;
    const url = `${emulatorUrl}/control/purchases`;
    const order = {
      platform: 'store_a',
      productId: 'premium',
      type: 'paid subscription',
      applicationUsername: username,
    };
    const response = await call(url, { body: order });
    if (response.status === 422) continue;
    print(`\n2. ${username} buys a subscription in the emulated App Store.`);
    print(format(url, { body: order }, response));
    return { id: response.body.id, validate: response.body.validate, username };
  }
}

/** Lists the purchases of this run and of earlier runs: a guide expects that alice keeps her access. */
async function listRenewing(emulatorUrl: string): Promise<readonly string[]> {
  const { body } = await call(`${emulatorUrl}/control`, {});
  return body.platforms.store_a.purchases
    .filter(
      ({ productId, state, autoRenewStatus }: Json) =>
        productId === 'premium' && state === 'ACTIVE' && autoRenewStatus === 1,
    )
    .map(({ id }: Json) => id);
}

/** Reads a URL until the body is complete. Returns false after a minute. */
async function waitFor(url: string, key: string, isComplete: (body: Json) => boolean): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (!isComplete((await call(url, { key })).body)) {
    if (Date.now() > deadline) return false;
    await sleep(500);
  }
  return true;
}

interface Call {
  /** Name and key of the app. */
  readonly key?: string;
  readonly body?: Json;
  /** Default: POST with a body. */
  readonly method?: 'PUT';
}

async function show(print: Print, url: string, request: Call): Promise<void> {
  print(format(url, request, await call(url, request)));
}

async function call(
  url: string,
  { key, body, method }: Call,
): Promise<{ readonly status: number; readonly body: Json }> {
  const headers = key === undefined ? {} : { authorization: `Basic ${Buffer.from(key).toString('base64')}` };
  const response = await fetch(
    url,
    body === undefined ? { headers } : { method: method ?? 'POST', headers, body: JSON.stringify(body) },
  );
  return { status: response.status, body: await response.json() };
}

/** Formats a request as a command and its response, with long values shortened. */
function format(
  url: string,
  { key, body, method }: Call,
  response: { readonly status: number; readonly body: Json },
): string {
  const options = `${method ? ` -X ${method}` : ''}${key === undefined ? '' : ` -u ${key}`}${body === undefined ? '' : ` -d '${toText(body)}'`}`;
  return `\n   curl ${url}${options}\n\n   ${response.status} ${toText(response.body, 2).replaceAll('\n', '\n   ')}`;
}

const toText = (value: Json, indent?: number): string =>
  JSON.stringify(
    value,
    (_name, member) =>
      typeof member === 'string' && member.length > maxShownLength ? `${member.slice(0, maxShownLength)}…` : member,
    indent,
  );
