import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';

/** The build writes the assets of the console next to this function; see infra/build-console.ts. */
const assetsFolder = new URL('./assets/', import.meta.url);

const page = 'index.html';
const referencePage = 'reference.html';
const apiDocument = 'openapi.json';
const overview = 'llms.txt';

const contentTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json',
  txt: 'text/plain; charset=utf-8',
};

/** URL of the store emulator, which the emulator page calls. Set by the local runtime only. */
const emulatorUrl = process.env.STORE_EMULATOR_URL;

/** @see https://developer.mozilla.org/en-US/docs/Web/HTTP/Guides/CSP */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  `connect-src 'self'${emulatorUrl === undefined ? '' : ` ${emulatorUrl}`}`,
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
const pageHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-frame-options': 'DENY',
};

/** The API document is public: tools on other sites read it. */
const documentHeaders = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };

const revalidated = 'no-cache';

/** An asset is named by the hash of its content. */
const immutable = 'public, max-age=31536000, immutable';

const headersByName: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [page]: { ...pageHeaders, 'cache-control': revalidated },
  [referencePage]: { ...pageHeaders, 'cache-control': revalidated },
  [apiDocument]: { ...documentHeaders, 'cache-control': revalidated },
  [overview]: { ...documentHeaders, 'cache-control': revalidated },
};

interface Asset {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const assets = new Map<string, Asset>();
let names: ReadonlySet<string> | undefined;

/**
 * Serves the page of the console for `/console`, its assets below that path, the API document, its reference and its
 * overview. Reads no table and records no event. An asset is found by the last segment of its path: the page can have
 * been opened with a trailing slash.
 */
export async function handler({ path, headers }: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> {
  const asset = findAsset(path);
  if (!asset) return notFound;
  const isUnchanged = getHeader(headers, 'if-none-match') === asset.headers.etag;
  return {
    statusCode: isUnchanged ? 304 : 200,
    headers: { ...asset.headers },
    body: isUnchanged ? '' : asset.body,
  };
}

const notFound: APIGatewayProxyResult = {
  statusCode: 404,
  headers: { 'content-type': 'application/json', ...securityHeaders, 'cache-control': 'no-store' },
  body: JSON.stringify({ ok: false, status: 404, code: 'ResourceNotFound', message: 'The path is not found.' }),
};

function findAsset(path: string): Asset | undefined {
  const name = path.split('/').findLast((segment) => segment !== '') ?? '';
  if (name === 'console') return readAsset(page);
  if (name === 'reference') return readAsset(referencePage);
  names ??= new Set(readdirSync(assetsFolder));
  return names.has(name) ? readAsset(name) : undefined;
}

function readAsset(name: string): Asset {
  const present = assets.get(name);
  if (present) return present;
  const text = readFileSync(new URL(name, assetsFolder), 'utf8');
  const body = name === page ? text.replace('{emulatorUrl}', emulatorUrl ?? '') : text;
  const asset = { body, headers: buildHeaders(name, body) };
  assets.set(name, asset);
  return asset;
}

const buildHeaders = (name: string, body: string): Asset['headers'] => ({
  'content-type': contentTypes[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
  ...securityHeaders,
  'cache-control': immutable,
  ...headersByName[name],
  // Weak, because API Gateway compresses the body.
  etag: `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
});

const getHeader = (headers: APIGatewayProxyEvent['headers'], name: string): string | undefined =>
  Object.entries(headers ?? {}).find(([header]) => header.toLowerCase() === name)?.[1];
