import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { GatewayDocument } from '../../local/gateway/document.ts';
import { startGateway } from '../../local/gateway/start-gateway.ts';
import type { HttpServer } from '../../local/http-server.ts';
import type { InvocationResult } from '../../local/local-function.ts';

const proxy = (uri: string) => ({
  'x-amazon-apigateway-integration': { type: 'aws_proxy' as const, uri, timeoutInMillis: 29_000 },
});
const preflight = {
  'x-amazon-apigateway-integration': {
    type: 'mock' as const,
    responses: {
      default: { statusCode: 204, responseParameters: { 'method.response.header.Access-Control-Allow-Origin': "'*'" } },
    },
  },
};
const response = (message: string, statusCode?: number) => ({
  ...(statusCode && { statusCode }),
  responseParameters: { 'gatewayresponse.header.X-From': "'gateway'" },
  responseTemplates: { 'application/json': JSON.stringify({ message }) },
});
const document: GatewayDocument = {
  paths: {
    '/users/{name}': { get: proxy('echo') },
    '/users/{name}/things': { get: proxy('echo') },
    '/users/me': { get: proxy('me') },
    '/things': { post: proxy('echo'), options: preflight },
    '/big': { get: proxy('big') },
    '/slow': { get: proxy('slow') },
    '/broken': { get: proxy('broken') },
    '/nonsense': { get: proxy('nonsense') },
    '/cookies': { get: proxy('cookies') },
    '/pages': { get: proxy('echo') },
    '/pages/{proxy+}': { get: proxy('echo') },
    '/pages/{name}': { get: proxy('me') },
    '/text': { get: proxy('text') },
    '/unknown/{proxy+}': {
      'x-amazon-apigateway-any-method': {
        'x-amazon-apigateway-integration': {
          type: 'mock',
          responses: {
            default: {
              statusCode: 404,
              responseParameters: { 'method.response.header.Access-Control-Allow-Origin': "'*'" },
              responseTemplates: { 'application/json': '{"ok":false}' },
            },
          },
        },
      },
    },
  },
  'x-amazon-apigateway-minimum-compression-size': 1_000,
  'x-amazon-apigateway-gateway-responses': {
    DEFAULT_4XX: response('wrong'),
    DEFAULT_5XX: response('failed'),
    INTEGRATION_TIMEOUT: response('slow', 504),
    MISSING_AUTHENTICATION_TOKEN: response('no such path', 404),
  },
};

const answer = (result: object): InvocationResult => ({ result: JSON.stringify(result) });
const endings: Readonly<Record<string, (payload: string) => InvocationResult>> = {
  echo: (payload) => answer({ statusCode: 200, body: payload }),
  me: () => answer({ statusCode: 201, headers: { 'X-Me': 'yes' }, body: 'me' }),
  big: () => answer({ statusCode: 200, body: 'x'.repeat(6_400_000) }),
  text: () => answer({ statusCode: 200, body: 'é'.repeat(500) }),
  slow: () => ({ timedOut: true }),
  broken: () => ({ error: 'Error: broken' }),
  nonsense: () => answer({ status: 'fine' }),
  cookies: () => answer({ statusCode: 200, multiValueHeaders: { 'Set-Cookie': ['a=1', 'b=2'] } }),
};

let gateway: HttpServer;
const logged: string[] = [];
beforeAll(async () => {
  const getFunction = (uri: string) => ({
    invoke: async (payload: string) => endings[uri]?.(payload) ?? { timedOut: true as const },
    close: async () => {},
  });
  gateway = await startGateway({
    port: 0,
    document,
    getFunction,
    now: () => 42,
    log: (text) => logged.push(text),
  });
});
afterAll(async () => await gateway.close());

const get = async (path: string, init: RequestInit = {}) => await fetch(`${gateway.url}${path}`, init);
const eventOf = async (path: string, init: RequestInit = {}): Promise<APIGatewayProxyEvent> =>
  (await (await get(path, init)).json()) as APIGatewayProxyEvent;

describe('startGateway', () => {
  it('passes the path still encoded, so that any username can be addressed', async () => {
    const event = await eventOf('/users/a%2Fb%3Fc%25%2B%C3%A9/things');
    expect(event).toMatchObject({
      path: '/users/a%2Fb%3Fc%25%2B%C3%A9/things',
      resource: '/users/{name}/things',
      pathParameters: { name: 'a%2Fb%3Fc%25%2B%C3%A9' },
      httpMethod: 'GET',
      body: null,
      isBase64Encoded: false,
      queryStringParameters: null,
      requestContext: { resourcePath: '/users/{name}/things', requestTimeEpoch: 42 },
    });
  });

  it('matches a literal segment before a parameter and ignores a trailing slash', async () => {
    for (const path of ['/users/me', '/users/me/']) {
      const response = await get(path);
      expect([response.status, response.headers.get('x-me'), await response.text()]).toEqual([201, 'yes', 'me']);
    }
  });

  it('passes all segments to a greedy parameter, and prefers a path without one', async () => {
    expect(await eventOf('/pages/a%2Fb/c/')).toMatchObject({
      resource: '/pages/{proxy+}',
      pathParameters: { proxy: 'a%2Fb/c' },
    });
    expect(await eventOf('/pages')).toMatchObject({ resource: '/pages', pathParameters: null });
    expect((await get('/pages/a')).status).toBe(201);
  });

  it('compresses a response of the minimum size if the client prefers gzip', async () => {
    const encoding = async (path: string, acceptEncoding: string) => {
      const response = await get(path, { headers: { 'accept-encoding': acceptEncoding } });
      return [response.headers.get('content-encoding'), (await response.text()).length];
    };
    expect(await encoding('/text', 'gzip, deflate, br')).toEqual(['gzip', 500]);
    expect(await encoding('/text', 'br;q=0.5, gzip;q=0.9')).toEqual(['gzip', 500]);
    for (const other of ['identity', 'br, gzip;q=0.9', 'gzip;q=0'])
      expect(await encoding('/text', other)).toEqual([null, 500]);
    expect(await encoding('/users/me', 'gzip')).toEqual([null, 2]);
  });

  it('decodes the query once and keeps every value of a name', async () => {
    const event = await eventOf('/users/a?k=1&k=%2526&__proto__=x');
    expect(event.queryStringParameters).toMatchObject({ k: '%26' });
    expect(event.multiValueQueryStringParameters).toMatchObject({ k: ['1', '%26'] });
  });

  it('passes headers and the body as text', async () => {
    const event = await eventOf('/things', {
      method: 'POST',
      body: '{"é":1}',
      headers: { 'X-Own': 'v' },
    });
    expect(event.body).toBe('{"é":1}');
    expect(Object.entries(event.headers)).toContainEqual([expect.stringMatching(/^x-own$/i), 'v']);
    expect(event.requestContext.identity.sourceIp).toBe('127.0.0.1');
  });

  it('responds to a preflight request without invoking a function', async () => {
    const response = await get('/things', { method: 'OPTIONS' });
    expect([response.status, response.headers.get('access-control-allow-origin'), await response.text()]).toEqual([
      204,
      '*',
      '',
    ]);
  });

  it.each(['GET', 'DELETE'])('responds to %s with the mock integration of any method', async (method) => {
    const response = await get('/unknown/path', { method, headers: { authorization: 'Basic YTpi' } });
    expect([response.status, response.headers.get('access-control-allow-origin'), await response.json()]).toEqual([
      404,
      '*',
      { ok: false },
    ]);
  });

  it('returns several headers with the same name', async () => {
    expect((await get('/cookies')).headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  it.each([
    ['a path that does not exist', '/none', 404, 'no such path'],
    ['a parameter that is empty', '/users//things', 404, 'no such path'],
    ['a method that the path does not have', '/things', 404, 'no such path'],
    ['a function that is too slow', '/slow', 504, 'slow'],
    ['a function that fails', '/broken', 502, 'failed'],
    ['a result that is not an answer', '/nonsense', 502, 'failed'],
    ['a result of more than 6 MB', '/big', 502, 'failed'],
  ])('returns the gateway response of the definition for %s', async (_what, path, status, message) => {
    const response = await get(path);
    expect(response.status).toBe(status);
    expect(response.headers.get('x-from')).toBe('gateway');
    expect(await response.json()).toEqual({ message });
  });

  it.each([
    ['10 MB', 10 * 1024 * 1024 + 1],
    ['6 MB as an event', 6_300_000],
  ])('rejects a body of more than %s', async (_what, size) => {
    const response = await get('/things', { method: 'POST', body: 'x'.repeat(size) });
    expect([response.status, await response.json()]).toEqual([413, { message: 'wrong' }]);
  });

  it('logs the error of a failed function', async () => {
    await get('/broken');
    expect(logged.join('')).toContain('Error: broken');
  });
});
