import { beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalService } from '../../../local/start-local.ts';
import { waitFor } from '../../../testing/wait-for.ts';

let service: LocalService;

const get = async (path: string, headers: Readonly<Record<string, string>> = {}) =>
  await fetch(service.baseUrl + path, { headers });

/** Lists the URLs of the scripts and styles of the page, relative to it. */
const listAssetUrls = (page: string): string[] =>
  [...page.matchAll(/(?:src|href)="(console\/[^"]+)"/g)].map(([, url = '']) => url);

export function describeServedFiles(getService: () => LocalService): void {
  beforeAll(() => {
    service = getService();
  });

  describe('GET /console', () => {
    it('returns the page without a key, to be revalidated by its ETag', async () => {
      const response = await get('/console');
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(response.headers.get('cache-control')).toBe('no-cache');
      const unchanged = await get('/console', { 'if-none-match': response.headers.get('etag') ?? '' });
      expect([unchanged.status, await unchanged.text()]).toEqual([304, '']);
    });

    it('forbids inline code, other origins and frames', async () => {
      const { headers } = await get('/console');
      const policy = new Map(
        (headers.get('content-security-policy') ?? '').split('; ').map((directive) => {
          const [name = '', ...sources] = directive.split(' ');
          return [name, sources.join(' ')] as const;
        }),
      );
      expect(Object.fromEntries(policy)).toEqual({
        'default-src': "'none'",
        'script-src': "'self'",
        'style-src': "'self'",
        'img-src': "'self' data:",
        'connect-src': `'self' ${service.emulatorUrl}`,
        'base-uri': "'none'",
        'form-action': "'none'",
        'frame-ancestors': "'none'",
        'require-trusted-types-for': "'script'",
        'trusted-types': "'none'",
      });
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
    });

    it('returns the assets compressed, to be cached for a year, also for a page with a trailing slash', async () => {
      const [script, ...others] = listAssetUrls(await (await get('/console')).text());
      for (const url of [`/${script}`, `/console/${script}`, ...others.map((other) => `/${other}`)]) {
        const response = await get(url);
        expect([url, response.status]).toEqual([url, 200]);
        expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
        const isCompressible = (await response.arrayBuffer()).byteLength >= 1_024;
        expect([url, response.headers.get('content-encoding')]).toEqual([url, isCompressible ? 'gzip' : null]);
        expect(response.headers.get('content-type')).toMatch(url.endsWith('.css') ? /^text\/css/ : /^text\/javascript/);
      }
    });

    it.each([
      '/console/none.js',
      '/console/..%2Fget-console.mjs',
      '/console/assets',
      '/console/%2e%2e/get-console.mjs',
    ])('returns 404 for %s', async (path) => {
      const response = await get(path);
      expect([response.status, await response.json()]).toEqual([
        404,
        expect.objectContaining({ ok: false, code: 'ResourceNotFound' }),
      ]);
    });
  });

  describe('GET /docs', () => {
    /** The documentation is built after the start of the service. */
    beforeAll(async () => {
      await waitFor('the documentation', async () => (await get('/docs')).status === 200);
    }, 200_000);

    it('redirects to the first page, whose files exist, and sends them to be cached', async () => {
      const redirect = await fetch(`${service.baseUrl}/docs/`, { redirect: 'manual' });
      expect([redirect.status, redirect.headers.get('location')]).toEqual([302, '/docs/index.html']);
      const response = await get('/docs');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      const page = await response.text();
      const urls = [...page.matchAll(/(?:href|src|data-search)="((?:assets|images)\/[^"]+)"/g)].map(
        ([, url = '']) => url,
      );
      expect(urls.length).toBeGreaterThan(4);
      for (const url of urls) {
        const asset = await get(`/docs/${url}`);
        expect([url, asset.status, asset.headers.get('cache-control')]).toEqual([
          url,
          200,
          'public, max-age=31536000, immutable',
        ]);
        const isCompressible = (await asset.arrayBuffer()).byteLength >= 1_024;
        expect([url, asset.headers.get('content-encoding')]).toEqual([url, isCompressible ? 'gzip' : null]);
      }
      const unchanged = await get('/docs/index.html', { 'if-none-match': response.headers.get('etag') ?? '' });
      expect([unchanged.status, await unchanged.text()]).toEqual([304, '']);
    });

    it('forbids inline code and all other origins', async () => {
      const { headers } = await get('/docs/guides/credits.html');
      expect(headers.get('content-security-policy')).toContain(
        "default-src 'none'; script-src 'self'; style-src 'self'",
      );
      expect(headers.get('content-security-policy')).toContain("connect-src 'self';");
      expect(headers.get('x-frame-options')).toBe('DENY');
    });

    it.each([
      ['/docs/guides/credits', '/docs/guides/credits.html'],
      ['/docs/guides/credits/', '/docs/guides/credits.html'],
      ['/docs/stores', '/docs/stores/index.html'],
    ])('redirects %s to %s', async (path, expected) => {
      const { status, headers } = await fetch(service.baseUrl + path, { redirect: 'manual' });
      expect([status, headers.get('location')]).toEqual([302, expected]);
    });

    it.each([
      '/docs/none.html',
      '/docs/guides/none/none',
      '/docs/..%2Fget-console.mjs',
      '/docs/%2e%2e/get-console.mjs',
      '/docs/..%2F..%2F..%2Fpackage.json',
      '/docs/guides/..%2Findex.html',
    ])('returns 404 for %s', async (path) => {
      expect((await get(path)).status).toBe(404);
    });

    it('returns links to the navigation and the styles with 404', async () => {
      const response = await get('/docs/guides/none/none');
      const [, styles = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(await response.text()) ?? [];
      expect((await fetch(new URL(styles, response.url))).status).toBe(200);
    });
  });

  describe('GET /openapi.json', () => {
    it('returns the API document without a key, to pages of every origin', async () => {
      const response = await get('/openapi.json');
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
      expect(await response.json()).toMatchObject({ openapi: '3.1.0', paths: { '/v1/validate': expect.anything() } });
    });
  });

  describe('GET /reference', () => {
    it('redirects to the reference in the documentation', async () => {
      const response = await get('/reference');
      expect([response.status, response.url]).toEqual([200, `${service.baseUrl}/docs/reference/index.html`]);
      expect(await response.text()).toContain('<h1>API reference</h1>');
    });
  });
}
