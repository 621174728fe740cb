import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The service of `npm start`, as it writes it for scripts. */
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

const renewalTimeoutMs = 120_000;
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

  const { id, validate, username } = await buy(emulatorUrl, print);
  print('\n2. Her app sends the receipt, with the public key.');
  await show(print, `${baseUrl}/v1/validate`, { key: asApp, body: validate });
  print('\n3. Your server reads her purchases, with the secret key.');
  const purchases = `${baseUrl}/v3/customers/${username}/purchases`;
  await show(print, purchases, { key: asServer });

  print('\n4. A month later, the paid period has ended.');
  await show(print, `${emulatorUrl}/control/clock`, { body: { advance: 'P1M1D' } });
  await show(print, purchases, { key: asServer });

  print(
    '\n5. The store renews the subscription and notifies the service, which calls your server (see the other terminal).',
  );
  await call(`${emulatorUrl}/control/purchases/${id}/renew`, { body: {} });
  const purchase = `${baseUrl}/v3/purchases/store_a:${id}?include_notifications=true`;
  const deadline = Date.now() + renewalTimeoutMs;
  while (!JSON.stringify((await call(purchase, { key: asServer })).body).includes('RENEWED')) {
    if (Date.now() > deadline) throw new Error('The renewal did not arrive within two minutes.');
    await sleep(500);
  }
  await show(print, purchase, { key: asServer });
  print(`\nThe console shows ${username} and each request: ${consoleUrl}`);
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
    print(`1. ${username} buys a subscription in the emulated App Store.`);
    print(format(url, { body: order }, response));
    return { id: response.body.id, validate: response.body.validate, username };
  }
}

interface Call {
  /** Name and key of the app. */
  readonly key?: string;
  /** Makes the request a POST. */
  readonly body?: Json;
}

async function show(print: Print, url: string, request: Call): Promise<void> {
  print(format(url, request, await call(url, request)));
}

async function call(url: string, { key, body }: Call): Promise<{ readonly status: number; readonly body: Json }> {
  const headers = key === undefined ? {} : { authorization: `Basic ${Buffer.from(key).toString('base64')}` };
  const response = await fetch(
    url,
    body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) },
  );
  return { status: response.status, body: await response.json() };
}

/** Formats a request as a command and its response, with long values shortened. */
function format(url: string, { key, body }: Call, response: { readonly status: number; readonly body: Json }): string {
  const options = `${key === undefined ? '' : ` -u ${key}`}${body === undefined ? '' : ` -d '${toText(body)}'`}`;
  return `\n   curl ${url}${options}\n\n   ${response.status} ${toText(response.body, 2).replaceAll('\n', '\n   ')}`;
}

const toText = (value: Json, indent?: number): string =>
  JSON.stringify(
    value,
    (_name, member) =>
      typeof member === 'string' && member.length > maxShownLength ? `${member.slice(0, maxShownLength)}…` : member,
    indent,
  );
