import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { buildTraceRequest } from '../../lib/events/build-spans.ts';
import type { EventRecord } from '../../lib/events/event.ts';
import { type HttpServer, startHttpServer } from '../../local/http-server.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName, startDate } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, string>> }[];
  readonly status?: object;
}

/** A request to the collector. */
interface Received {
  readonly type: string | undefined;
  readonly path: string | undefined;
  readonly body: string;
}

let collector: HttpServer;
let service: TestService;
let keys: IssuedApiKeys;
let received: Received[] = [];
let status = 200;

beforeAll(async () => {
  collector = await startHttpServer(async (request, response) => {
    received.push({ type: request.headers['content-type'], path: request.url, body: await text(request) });
    response.writeHead(status).end('{}');
  });
  service = await startTestService();
  process.env.OTLP_TRACES_URL = `${collector.url}/v1/traces`;
  keys = await service.createApp(['store_b']);
});
afterAll(async () => {
  delete process.env.OTLP_TRACES_URL;
  await service.close();
  await collector.close();
});
beforeEach(() => {
  received = [];
  status = 200;
});

const listSpans = (): Span[] =>
  received.flatMap(({ body }) => {
    const { resourceSpans } = JSON.parse(body) as {
      resourceSpans: readonly { scopeSpans: readonly { spans: readonly Span[] }[] }[];
    };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  });

const getAttributes = ({ attributes }: Span) =>
  Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue } }) => [key, stringValue ?? Number(intValue)]),
  );

const buy = async (applicationUsername = createUniqueName('user')) => {
  const order = { platform: 'store_b', productId: 'premium', type: 'paid subscription', applicationUsername };
  const { validate } = await service.callControl('/purchases', order);
  return validate;
};

describe('spans of the option otlpTracesUrl', () => {
  it('reach a collector as OTLP in JSON: a request and its calls of the store, joined by the id of the response', async () => {
    const { headers, body } = await service.validate(keys, await buy());
    expect(body.ok).toBe(true);
    expect(received.map(({ type, path }) => [type, path])).toEqual([['application/json', '/v1/traces']]);
    const [request, ...calls] = listSpans();
    const traceId = String(headers['X-Request-Id']).replaceAll('-', '');
    expect(request).toMatchObject({ traceId, spanId: traceId.slice(16), name: 'POST /v1/validate', kind: 2 });
    expect(getAttributes(request as Span)).toMatchObject({
      'claimcheck.app': keys.appName,
      'claimcheck.event.id': headers['X-Request-Id'],
      'http.response.status_code': 200,
    });
    expect(calls.length).toBeGreaterThan(1);
    expect(new Set(calls.map(({ spanId }) => spanId)).size).toBe(calls.length);
    for (const call of calls) {
      expect(call).toMatchObject({ traceId, parentSpanId: request?.spanId, kind: 3 });
      expect(getAttributes(call)).toMatchObject({
        'claimcheck.store': 'store_b',
        'server.address': expect.stringMatching(/googleapis\.com$/),
        'http.response.status_code': 200,
      });
      expect(Number(call.startTimeUnixNano)).toBeGreaterThanOrEqual(Number(request?.startTimeUnixNano));
      expect(Number(call.endTimeUnixNano)).toBeLessThanOrEqual(Number(request?.endTimeUnixNano));
    }
  });

  it('contain neither keys, nor purchase tokens, nor usernames', async () => {
    const username = createUniqueName('secret-user');
    const validate = await buy(username);
    await service.validate(keys, validate);
    const { purchaseToken } = validate.transaction;
    expect(purchaseToken.length).toBeGreaterThan(10);
    const sent = received.map(({ body }) => body).join();
    for (const secret of [purchaseToken, keys.publicKey, username]) expect(sent).not.toContain(secret);
  });

  it('contain a request without calls for a read', async () => {
    await callWithSecretKey(getCustomerPurchases, keys, { params: { applicationUsername: 'ann' } });
    expect(listSpans().map(({ name }) => name)).toEqual(['GET /v3/customers/:applicationUsername/purchases']);
  });

  it('do not change the response if the collector fails, which is logged once a minute', async () => {
    status = 503;
    const log = jest.spyOn(console, 'warn').mockImplementation(() => {});
    for (let request = 0; request < 3; request++) {
      const { body } = await service.validate(keys, await buy());
      expect(body.ok).toBe(true);
    }
    const lines = log.mock.calls.map(([line]) => line);
    log.mockRestore();
    expect(lines).toEqual([expect.objectContaining({ message: 'The spans cannot be sent.', app: keys.appName })]);
  });
});

describe('buildTraceRequest', () => {
  it('adds a webhook to the trace of the request that caused it', () => {
    const causeId = '0195f3a0-7b1c-7def-9a41-93e8deadbeef';
    const event = {
      eventId: '5f2b7c9d1e3a4b6c8d0e2f4a6b8c0d1e.mkffk2g8',
      reqId: 'n1',
      type: 'webhook.app.called',
      date: startDate,
      route: 'webhook',
      outcome: { status: 502, ok: false, message: 'HTTP 500' },
      content: { tags: {} },
    } as unknown as EventRecord;
    const call = {
      type: 'app.example',
      url: 'https://app.example/hook',
      method: 'POST',
      response: { status: 500, size: 0 },
    };
    const raw = {
      request: {},
      response: {},
      externalRequests: [{ ...call, timing: { startedAt: startDate, endedAt: startDate + 30 } }],
    };
    const sent = buildTraceRequest({ appName: 'a', event, raw, causeId }, {}, startDate + 40);
    expect(sent).toMatchObject({
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: [
                {
                  traceId: '0195f3a07b1c7def9a4193e8deadbeef',
                  parentSpanId: '9a4193e8deadbeef',
                  kind: 5,
                  status: { code: 2 },
                },
                { traceId: '0195f3a07b1c7def9a4193e8deadbeef', name: 'POST app.example', status: { code: 2 } },
              ],
            },
          ],
        },
      ],
    });
  });
});
