import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type LocalService, startLocal } from '../../local/start-local.ts';
import { type CordovaPage, openCordovaPage } from '../../testing/cordova-page.ts';
import { createEmulatorClient } from '../../testing/emulator-client.ts';
import { enforcePreflight } from '../../testing/enforce-preflight.ts';

let service: LocalService;
let page: CordovaPage | undefined;
beforeAll(async () => {
  enforcePreflight();
  service = await startLocal();
}, 60_000);
afterEach(() => {
  page?.close();
});
afterAll(async () => await service?.close());

interface Asked {
  readonly url: string;
  readonly method?: string;
  readonly body?: string;
}

/** What a script of a page of the origin gets to read: status 0 when it may not. */
async function readFrom(
  origin: string,
  { url, method = 'GET', body }: Asked,
): Promise<{ status: number; text: string }> {
  page = openCordovaPage('android', () => undefined, origin);
  const request = new page.window.XMLHttpRequest();
  return await new Promise((resolve) => {
    request.onloadend = () => resolve({ status: request.status, text: request.responseText });
    request.open(method, url);
    request.setRequestHeader('Accept', 'application/json');
    if (body !== undefined) request.setRequestHeader('Content-Type', 'application/json;charset=UTF-8');
    request.send(body);
  });
}

/** A server that notes what it is asked, and for leave to send which headers. */
async function serverAllowing(headers: Readonly<Record<string, string>>) {
  const requests: (string | undefined)[][] = [];
  const server = createServer(({ method, headers: { 'access-control-request-headers': wanted } }, response) => {
    requests.push([method, wanted?.toLowerCase()]);
    response.writeHead(200, headers).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { requests, url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

const as = (key: string) => `appName=${service.appName}&apiKey=${key}`;
const origins = ['https://localhost', 'http://localhost', 'capacitor://localhost', 'ionic://localhost'];

describe('a webview', () => {
  it.each([
    ['nothing', {}],
    ['the origin alone', { 'access-control-allow-origin': '*' }],
  ])('posts no JSON to a server that allows %s', async (_name, headers) => {
    const { requests, url, close } = await serverAllowing(headers);
    expect(await readFrom('https://localhost', { url, method: 'POST', body: '{}' })).toEqual({ status: 0, text: '' });
    close();
    expect(requests).toEqual([['OPTIONS', 'content-type']]);
  });

  it.each(origins)('of %s reads the answer to a validation', async (origin) => {
    const { validate } = await createEmulatorClient(service.emulatorUrl).buy({ platform: 'store_a' });
    const url = `${service.baseUrl}/v1/validate?${as(service.publicKey)}`;
    const { status, text } = await readFrom(origin, { url, method: 'POST', body: JSON.stringify(validate) });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ ok: true });
  });

  it('reads a refusal as well as an answer', async () => {
    const url = `${service.baseUrl}/v1/validate?${as('wrong')}`;
    const { status, text } = await readFrom('https://localhost', { url, method: 'POST', body: '{"id":"premium"}' });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ ok: false, message: expect.any(String) });
  });

  it.each(origins)('of %s may not read what the secret key gives to servers', async (origin) => {
    const url = `${service.baseUrl}/v3/customers/ann/purchases?${as(service.secretKey)}`;
    expect((await fetch(url)).status).toBe(200);
    expect(await readFrom(origin, { url })).toEqual({ status: 0, text: '' });
  });
});
