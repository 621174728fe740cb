import { afterEach, expect, it } from '@jest/globals';
import type { HttpServer } from '../../local/http-server.ts';
import { receiverPath, startWebhookReceiver } from '../../local/webhook-receiver.ts';

const running: HttpServer[] = [];
afterEach(async () => {
  for (const receiver of running.splice(0)) await receiver.close();
});

const lines: string[] = [];

async function start(port = 0): Promise<HttpServer> {
  const receiver = await startWebhookReceiver(port, (line) => lines.push(line));
  running.push(receiver);
  return receiver;
}
const send = async (url: string, body: string) => (await fetch(url, { method: 'POST', body })).status;

it('reports each webhook as one line', async () => {
  const { url } = await start();
  const premium = { expirationDate: '2026-02-01T00:00:00.000Z', isExpired: false };
  const gold = { expirationDate: '2025-12-31T00:00:00.000Z', isExpired: true };
  const updated = {
    type: 'purchases.updated',
    password: 'sec_nobody_prints_this',
    notification: { reason: 'RENEWED', id: '1', date: '2026-01-01T00:00:00.000Z' },
    applicationUsername: 'alice',
    purchases: { 'store_a:premium': premium, 'store_a:coins': {} },
  };
  expect(await send(url, JSON.stringify(updated))).toBe(200);
  expect(await send(url, JSON.stringify({ ...updated, purchases: {} }))).toBe(200);
  expect(await send(url, JSON.stringify({ ...updated, purchases: { 'store_a:gold': gold } }))).toBe(200);
  expect(await send(url, '{"type":"test"}')).toBe(200);
  expect(lines).toEqual([
    'Webhook  RENEWED  alice owns store_a:premium active until 2026-02-01T00:00:00.000Z, store_a:coins active',
    'Webhook  RENEWED  alice owns nothing',
    'Webhook  RENEWED  alice owns store_a:gold expired on 2025-12-31T00:00:00.000Z',
    'Webhook  test',
  ]);
});

it.each(['', 'nonsense', '[]', '{"type":7}'])('rejects %j', async (body) => {
  expect(await send((await start()).url, body)).toBe(400);
});

it('takes another port when the one it had is in use', async () => {
  const first = await start();
  const second = await start(first.port);
  expect(second.port).not.toBe(first.port);
  expect(await send(second.url, '{"type":"test"}')).toBe(200);
  expect(second.url.endsWith(receiverPath)).toBe(true);
});
