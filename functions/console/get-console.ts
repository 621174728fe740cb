import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { getHeader } from '../../lib/http/request.ts';
import { createStaticFiles, type StaticFile } from '../../lib/http/static-files.ts';

const page = 'index.html';
const apiDocument = 'openapi.json';
const overview = 'llms.txt';

/** URL of the store emulator, which the emulator page calls. Set by the local runtime only. */
const emulatorUrl = process.env.STORE_EMULATOR_URL;

/** @see https://developer.mozilla.org/en-US/docs/Web/HTTP/Guides/CSP */
const buildContentSecurityPolicy = (connectSources: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${connectSources}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');

const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=63072000',
  'cross-origin-resource-policy': 'same-origin',
};
const buildPageHeaders = (connectSources: string) => ({
  ...securityHeaders,
  'content-security-policy': buildContentSecurityPolicy(connectSources),
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-frame-options': 'DENY',
  'cache-control': 'no-cache',
});

/** The API document is public: tools on other sites read it. */
const documentHeaders = {
  ...securityHeaders,
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'no-cache',
};

/** An asset is named by the hash of its content. */
const assetHeaders = { ...securityHeaders, 'cache-control': 'public, max-age=31536000, immutable' };

const consoleHeaders: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [page]: buildPageHeaders(emulatorUrl === undefined ? "'self'" : `'self' ${emulatorUrl}`),
  [apiDocument]: documentHeaders,
  [overview]: documentHeaders,
};

/** The build writes the assets of the console next to this function: infra/build-console.ts. */
const consoleFiles = createStaticFiles(new URL('./assets/', import.meta.url), {
  getHeaders: (name) => consoleHeaders[name] ?? assetHeaders,
  transform: (name, text) => (name === page ? text.replace('{emulatorUrl}', emulatorUrl ?? '') : text),
});

const sitePageHeaders = buildPageHeaders("'self'");

/** The documentation with the API reference: infra/site/build-site.ts. */
const siteFiles = createStaticFiles(new URL('./docs/', import.meta.url), {
  getHeaders: (name) =>
    name.endsWith('.html') ? sitePageHeaders : name === apiDocument ? documentHeaders : assetHeaders,
});

/**
 * Serves the page of the console for `/console`, its assets below that path, the API document, its overview, and the
 * documentation with the API reference. Reads no table and records no event.
 */
export async function handler(event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> {
  const { resource, path, pathParameters } = event;
  if (resource === '/docs') return redirect(event, './docs/index.html');
  if (resource === '/reference') return redirect(event, './docs/reference/index.html');
  if (resource.startsWith('/docs/')) return serveSite(event, pathParameters?.proxy ?? '');
  // The last segment: the page can have been opened with a trailing slash.
  const name = path.split('/').findLast((segment) => segment !== '') ?? '';
  const file = consoleFiles.find(name === 'console' ? page : name);
  return file ? respond(event, file) : notFound;
}

const notFound: APIGatewayProxyResult = {
  statusCode: 404,
  headers: { 'content-type': 'application/json', ...securityHeaders, 'cache-control': 'no-store' },
  body: JSON.stringify({ ok: false, status: 404, code: 'ResourceNotFound', message: 'The path is not found.' }),
};

function serveSite(event: APIGatewayProxyEvent, proxy: string): APIGatewayProxyResult {
  const name = proxy.replace(/\/$/, '');
  if (siteFiles.isFolderMissing()) return beingBuilt;
  const file = siteFiles.find(name);
  if (file) return respond(event, file);
  const lastSegment = name.slice(name.lastIndexOf('/') + 1);
  if (siteFiles.find(`${name}.html`)) return redirect(event, `./${lastSegment}.html`);
  if (siteFiles.find(`${name}/${page}`)) return redirect(event, `./${lastSegment}/${page}`);
  const { body = '', headers = {} } = siteFiles.find('404.html') ?? {};
  // The page is at the root of the site, and its links are relative to it.
  const root = '../'.repeat(proxy.split('/').length - 1);
  return {
    statusCode: 404,
    headers: { ...headers, 'cache-control': 'no-store' },
    body: body.replaceAll(/ (href|src|data-search)="(?![a-z]+:|#)/g, ` $1="${root}`),
  };
}

/** The local service builds the documentation after its start. */
const beingBuilt: APIGatewayProxyResult = {
  statusCode: 503,
  headers: { 'content-type': 'text/html; charset=utf-8', ...sitePageHeaders, 'retry-after': '1', refresh: '1' },
  body: '<!doctype html><html lang="en"><title>Claimcheck</title><p>The documentation is being built. This page reloads every second.</p></html>',
};

const respond = (event: APIGatewayProxyEvent, file: StaticFile): APIGatewayProxyResult => {
  const isUnchanged = getHeader(event, 'if-none-match') === file.headers.etag;
  return {
    statusCode: isUnchanged ? 304 : 200,
    headers: { ...file.headers },
    body: isUnchanged ? '' : file.body,
  };
};

/** Redirects to a target relative to the parent of the requested path, which includes the stage or the base path. */
function redirect({ requestContext }: APIGatewayProxyEvent, target: string): APIGatewayProxyResult {
  const { pathname } = new URL(target, `https://localhost${requestContext.path.replace(/\/$/, '')}`);
  return {
    statusCode: 302,
    headers: { ...securityHeaders, location: pathname.replace(/^\/+/, '/'), 'cache-control': 'no-cache' },
    body: '',
  };
}
