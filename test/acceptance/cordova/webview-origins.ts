import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalService } from '../../../local/start-local.ts';
import { type CordovaPage, openCordovaPage } from '../../../testing/cordova-page.ts';
import { createEmulatorClient } from '../../../testing/emulator-client.ts';
import { enforcePreflight } from '../../../testing/enforce-preflight.ts';

let service: LocalService;
let page: CordovaPage | undefined;

interface PageRequest {
  readonly url: string;
  readonly method?: string;
  readonly body?: string;
}

/** Sends a request from a page of the origin. Returns status 0 if CORS forbids reading the response. */
async function fetchFromPage(
  origin: string,
  { url, method = 'GET', body }: PageRequest,
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

/**
 * Starts a server with these response headers. It records the method and `Access-Control-Request-Headers` of requests.
 */
async function startServer(headers: Readonly<Record<string, string>>) {
  const requests: (string | undefined)[][] = [];
  const server = createServer(
    ({ method, headers: { 'access-control-request-headers': requestedHeaders } }, response) => {
      requests.push([method, requestedHeaders?.toLowerCase()]);
      response.writeHead(200, headers).end('{}');
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { requests, url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

const buildAuthQuery = (key: string) => `appName=${service.appName}&apiKey=${key}`;
const origins = ['https://localhost', 'http://localhost', 'capacitor://localhost', 'ionic://localhost'];

/** Registers the tests of this file, which share a service with the other clients. */
export function describeWebviewOrigins(getService: () => LocalService): void {
  beforeAll(() => {
    enforcePreflight();
    service = getService();
  });
  afterEach(() => {
    page?.close();
  });

  describe('CORS in a webview', () => {
    it.each([
      ['no header', {}],
      ['Access-Control-Allow-Origin only', { 'access-control-allow-origin': '*' }],
    ])('blocks a JSON request to a server that sends %s', async (_name, headers) => {
      const { requests, url, close } = await startServer(headers);
      expect(await fetchFromPage('https://localhost', { url, method: 'POST', body: '{}' })).toEqual({
        status: 0,
        text: '',
      });
      close();
      expect(requests).toEqual([['OPTIONS', 'content-type']]);
    });

    it.each(origins)('allows a page of %s to read the response to a validation', async (origin) => {
      const { validate } = await createEmulatorClient(service.emulatorUrl).buy({ platform: 'store_a' });
      const url = `${service.baseUrl}/v1/validate?${buildAuthQuery(service.publicKey)}`;
      const { status, text } = await fetchFromPage(origin, { url, method: 'POST', body: JSON.stringify(validate) });
      expect(status).toBe(200);
      expect(JSON.parse(text)).toMatchObject({ ok: true });
    });

    it('allows a page to read an error response', async () => {
      const url = `${service.baseUrl}/v1/validate?${buildAuthQuery('wrong')}`;
      const { status, text } = await fetchFromPage('https://localhost', {
        url,
        method: 'POST',
        body: '{"id":"premium"}',
      });
      expect(status).toBe(200);
      expect(JSON.parse(text)).toMatchObject({ ok: false, message: expect.any(String) });
    });

    it.each(origins)('prevents a page of %s from reading an endpoint of the secret key', async (origin) => {
      const url = `${service.baseUrl}/v3/customers/ann/purchases?${buildAuthQuery(service.secretKey)}`;
      expect((await fetch(url)).status).toBe(200);
      expect(await fetchFromPage(origin, { url })).toEqual({ status: 0, text: '' });
    });
  });
}
