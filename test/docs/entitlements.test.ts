import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { Catalogue } from '../../lib/apps/catalogue.ts';
import { getCustomerEntitlements } from '../../lib/entitlements/contract.ts';
import { computeEntitlements } from '../../lib/entitlements/entitlements.ts';
import { createTokenKeys, signEntitlementToken, toPublicJwk } from '../../lib/entitlements/token-key.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { type HttpServer, startHttpServer } from '../../local/http-server.ts';
import { readSnippet } from '../../testing/documents.ts';
import { createObservation } from '../../testing/given.ts';
import { writeServerModule } from '../../testing/server-clients.ts';

const page = 'docs/guides/entitlements.md';
const now = Date.now();
const keys = createTokenKeys(now);
const catalogue = v.parse(Catalogue, JSON.parse(readSnippet(page, 'catalogue')));

let folder: string;
let server: HttpServer;
let worker: { fetch(request: Request, env: Readonly<Record<string, string>>): Promise<Response> };
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'claimcheck-token-'));
  server = await startHttpServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ keys: keys.keys.map(toPublicJwk) }));
  });
  const file = await writeServerModule(folder, 'worker.mjs', readSnippet(page, 'edge-worker'));
  ({ default: worker } = await import(pathToFileURL(file).href));
});
afterAll(async () => {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Signs the entitlements of a customer who owns the first product of the page until `end`. */
async function signToken(end: number, appName = 'demo'): Promise<string> {
  const [productId = ''] = Object.keys(catalogue);
  const { purchase } = createObservation({ productId, purchaseDate: now - dayMs, expirationDate: end });
  const facts = { username: 'alice', purchases: [purchase], grants: [], catalogue, sandboxRule: undefined };
  const entitlements = computeEntitlements(facts, now);
  return (await signEntitlementToken({ issuer: server.url, appName, username: 'alice', entitlements, now }, keys))
    .token;
}

describe('docs/guides/entitlements.md', () => {
  it('serves a page from an edge worker to the holder of a token only', async () => {
    const open = async (authorization: string): Promise<number> => {
      const request = new Request('https://edge.example.com/', { headers: { authorization } });
      return (await worker.fetch(request, { API_URL: server.url, APP_NAME: 'demo' })).status;
    };
    const token = await signToken(now + dayMs);
    const [header, payload] = token.split('.');
    const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'entitlements+jwt' })).toString('base64url');
    expect(await open(`Bearer ${token}`)).toBe(200);
    expect(await open(`Bearer ${await signToken(now - dayMs)}`)).toBe(403);
    const foreign = await signToken(now + dayMs, 'another');
    for (const invalid of [
      '',
      'Bearer x',
      `Bearer ${header}.${payload?.replace(/..$/, '')}.${token.split('.')[2]}`,
      `Bearer ${header}.${payload}.`,
      `Bearer ${none}.${payload}.`,
      `Bearer ${foreign}`,
    ])
      expect(await open(invalid)).toBe(401);
  });

  it('shows a response of the service', () => {
    expect(() => v.parse(getCustomerEntitlements.response, JSON.parse(readSnippet(page, 'response')))).not.toThrow();
  });
});
