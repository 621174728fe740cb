import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { hourMs } from '../../lib/foundation/time.ts';
import { type ReceivedRequest, startApplicationServer } from '../../testing/application-server.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { callLocalControl, letSettingsTakeEffect } from '../../testing/call-local.ts';
import { runSuccessfully } from '../../testing/command-line.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { waitFor } from '../../testing/wait-for.ts';

const printedLines: string[] = [];
const service = startBeforeAll(async () => await startLocalService({ onWebhook: (line) => printedLines.push(line) }));
const server = startBeforeAll(startApplicationServer);

const cli = async (...args: string[]): Promise<string> => await runSuccessfully(service.environment, args);

const secretKeyHeaders = () => buildBasicAuth(service.appName, service.secretKey);

/** Buys a subscription in the emulated store and validates it. */
async function buy(applicationUsername: string): Promise<Response> {
  const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', applicationUsername };
  const init = { method: 'POST', body: JSON.stringify(order) };
  const { validate } = (await (await fetch(`${service.emulatorUrl}/control/purchases`, init)).json()) as {
    validate: object;
  };
  const headers = buildBasicAuth(service.appName, service.publicKey);
  return await fetch(`${service.baseUrl}/v1/validate`, { method: 'POST', headers, body: JSON.stringify(validate) });
}

/** Lists the received webhooks about a customer with this reason. */
const listWebhooks = (username: string, reason: string): ReceivedRequest[] =>
  server.requests.filter(({ body }) => {
    const { applicationUsername, notification } = JSON.parse(body);
    return applicationUsername === username && notification?.reason === reason;
  });

/** Waits until the server has received `count` webhooks about a customer with this reason. */
async function waitForWebhooks(username: string, reason: string, count: number): Promise<readonly ReceivedRequest[]> {
  const list = () => listWebhooks(username, reason);
  return await waitFor(`${count} webhooks of ${username} with ${reason}`, list, ({ length }) => length >= count);
}

it('prints the webhooks of the demo app until a webhook URL is set', async () => {
  await buy('anna');
  const line = await waitFor('a printed webhook', () => printedLines.find((printed) => printed.includes('anna')));
  expect(line).toMatch(/^Webhook {2}\w+ {2}anna owns store_a:premium active until 20/);
});

it('sends a signed webhook, retries it after a 503 response and repeats it on request', async () => {
  const output = await cli('app', 'set-webhook', service.appName, '--url', `${server.url}/hook`);
  const signingSecret = /whsec_\S+/.exec(
    await cli('app', 'set-webhook', service.appName, '--url', `${server.url}/hook`, '--new-secret'),
  )?.[0];
  expect(output).not.toContain('whsec_');
  if (!signingSecret) throw new Error('The output has no signing secret.');
  await cli('app', 'test-webhook', service.appName);
  const testRequests = await waitFor(
    'the test webhook',
    () => server.requests,
    ({ length }) => length > 0,
  );
  expect(JSON.parse(testRequests[0]?.body ?? '')).toEqual({ type: 'test', password: service.secretKey });

  server.respondWith(() => ({ status: listWebhooks('bert', 'RECEIPT_VALIDATED').length === 1 ? 503 : 200 }));
  await buy('bert');
  const [failed, retried] = await waitForWebhooks('bert', 'RECEIPT_VALIDATED', 2);
  if (!failed || !retried) throw new Error('A webhook is missing.');
  expect(retried.headers['webhook-id']).toBe(failed.headers['webhook-id']);
  const payload = new Webhook(signingSecret).verify(failed.body, failed.headers as Record<string, string>);
  expect(payload).toEqual({
    type: 'purchases.updated',
    password: service.secretKey,
    notification: {
      reason: 'RECEIPT_VALIDATED',
      id: expect.any(String),
      date: expect.stringMatching(/^20.*Z$/),
      productId: 'store_a:premium',
      purchaseId: expect.stringMatching(/^store_a:/),
      transactionId: expect.stringMatching(/^store_a:/),
    },
    applicationUsername: 'bert',
    purchases: { 'store_a:premium': expect.objectContaining({ productId: 'store_a:premium', isExpired: false }) },
  });

  const { notification } = JSON.parse(failed.body);
  const repeat = async (path: string, reqId: string) =>
    await fetch(`${service.baseUrl}${path}`, {
      method: 'POST',
      headers: secretKeyHeaders(),
      body: JSON.stringify({ reqId }),
    });
  await waitFor('the event of the webhook', async () => (await repeat('/v3/notifier/app-webhook', notification.id)).ok);
  const [repeated] = await waitForWebhooks('bert', 'REPEATED', 1);
  expect(JSON.parse(repeated?.body ?? '').notification.id).not.toBe(notification.id);
  expect((await repeat('/v3/notifier/app-webhooks', 'no-such-request')).status).toBe(404);

  const search = await fetch(`${service.baseUrl}/v3/search/bert`, { headers: secretKeyHeaders() });
  const text = await search.text();
  expect(text).toContain('webhook.app.called');
  expect(text).not.toContain(service.secretKey);
});

describe('entitlements of an app', () => {
  const callApi = async (method: string, path: string, body?: object) => {
    const init = { method, headers: secretKeyHeaders(), ...(body && { body: JSON.stringify(body) }) };
    return await fetch(`${service.baseUrl}${path}`, init);
  };
  const listGrantWebhooks = (username: string, reason: string) =>
    listWebhooks(username, reason)
      .map(({ body }) => JSON.parse(body))
      .filter(({ notification }) => notification.purchaseId === undefined);

  it('sends entitlements to an app that has them, with the names that the purchase concerns', async () => {
    server.respondWith(() => ({ status: 200 }));
    const catalogue = { premium: { type: 'paid subscription', entitlements: ['pro', 'sync'] } };
    expect((await callApi('PUT', '/v3/catalogue', catalogue)).status).toBe(200);
    await letSettingsTakeEffect(service);
    await buy('cleo');
    const [webhook] = await waitForWebhooks('cleo', 'PURCHASED', 1);
    const { entitlements, entitlementsChanged } = JSON.parse(webhook?.body ?? '');
    expect(entitlementsChanged).toEqual(['pro', 'sync']);
    const answer = await callApi('GET', '/v3/customers/cleo/entitlements');
    expect(entitlements).toEqual((await answer.json()).entitlements);
  });

  it('announces the start, the change and the end of a grant', async () => {
    const now = Date.parse((await callLocalControl(service, '/clock')).now);
    const toIso = (date: number): string => new Date(date).toISOString();
    const body = { entitlement: 'pro', reason: 'a friend', until: toIso(now + hourMs) };
    const created = await callApi('POST', '/v3/customers/dora/grants', body);
    expect(created.status).toBe(201);
    const { grantId } = await created.json();
    const [start] = await waitFor(
      'the start',
      () => listGrantWebhooks('dora', 'OTHER'),
      ({ length }) => length > 0,
    );
    expect(start).toMatchObject({
      entitlementsChanged: ['pro'],
      entitlements: { pro: { isActive: true } },
      purchases: {},
    });
    const change = { until: toIso(now + 2 * hourMs) };
    expect((await callApi('PATCH', `/v3/customers/dora/grants/${grantId}`, change)).status).toBe(200);
    await waitFor(
      'the change',
      () => listGrantWebhooks('dora', 'EXTENDED'),
      ({ length }) => length > 0,
    );
    await callLocalControl(service, '/clock', { advance: 'PT3H' });
    const [end] = await waitFor(
      'the end',
      () => listGrantWebhooks('dora', 'EXPIRED'),
      ({ length }) => length > 0,
    );
    expect(end.entitlements.pro).toMatchObject({ isActive: false, source: { type: 'grant', grantId } });
  });
});

it('follows a request by one id from its response to its event and its webhook', async () => {
  await cli('app', 'set-webhook', service.appName, '--url', `${server.url}/hook`);
  const response = await buy('ines');
  const id = response.headers.get('x-request-id') ?? '';
  // The access log has this id of API Gateway.
  expect(response.headers.get('x-amzn-requestid')?.slice(-17)).toBe(id.slice(-17));
  const [webhook] = await waitForWebhooks('ines', 'RECEIPT_VALIDATED', 1);
  expect(webhook?.headers['x-request-id']).toBe(id);
  const url = `${service.baseUrl}/v3/events/${id}`;
  const event = await (await fetch(url, { headers: secretKeyHeaders() })).json();
  expect(event).toMatchObject({ raw: { eventId: id } });
  const deliveryUrl = `${service.baseUrl}/v3/webhooks/deliveries/${webhook?.headers['webhook-id']}`;
  expect((await fetch(deliveryUrl, { headers: secretKeyHeaders() })).status).toBe(200);

  const failed = await fetch(`${service.baseUrl}/v3/purchases/store_a:0`, {
    headers: { ...secretKeyHeaders(), 'x-request-id': 'of-the-client' },
  });
  expect([failed.ok, failed.headers.get('x-request-id')]).toEqual([false, 'of-the-client']);
});
