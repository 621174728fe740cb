import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createRequestHandler } from '../../../../lib/foundation/outgoing/aws-client.ts';
import { type HttpServer, startHttpServer } from '../../../../local/http-server.ts';

const servers: (HttpServer | { close(): Promise<void> })[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map(async (server) => await server.close()));
});

async function startServer(respond: Parameters<typeof startHttpServer>[0]): Promise<string> {
  const server = await startHttpServer(respond);
  servers.push(server);
  return server.url;
}

function createClient(endpoint: string, options: Parameters<typeof createRequestHandler>[0] = {}, maxAttempts = 1) {
  const requestHandler = createRequestHandler(options);
  const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
  const client = new DynamoDBClient({ endpoint, region: 'eu-west-1', credentials, maxAttempts, requestHandler });
  servers.push({ close: async () => client.destroy() });
  return client;
}
const get = () => new GetItemCommand({ TableName: 'table', Key: { pk: { S: 'ü' } } });

describe('createRequestHandler', () => {
  it('sends the body with its length and returns a response of several parts', async () => {
    const text = 'ü'.repeat(100_000);
    const requests: { readonly length: string | undefined; readonly body: string }[] = [];
    const url = await startServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray());
      requests.push({ length: request.headers['content-length'], body: body.toString() });
      const content = Buffer.from(JSON.stringify({ Item: { text: { S: text } } }));
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
      for (let start = 0; start < content.length; start += 50_001)
        response.write(content.subarray(start, start + 50_001));
      response.end();
    });
    const { Item } = await createClient(url).send(get());
    expect(Item).toEqual({ text: { S: text } });
    const body = '{"TableName":"table","Key":{"pk":{"S":"ü"}}}';
    expect(requests.map((request) => ({ ...request, body: JSON.parse(request.body) }))).toEqual([
      { length: String(Buffer.byteLength(body)), body: JSON.parse(body) },
    ]);
  });

  it('repeats a call whose connection breaks, and reuses connections', async () => {
    const ports = new Set<number | undefined>();
    let calls = 0;
    const url = await startServer(async (request, response) => {
      await request.toArray();
      calls++;
      if (calls === 1) request.socket.destroy();
      else {
        ports.add(request.socket.remotePort);
        response.end('{}');
      }
    });
    const client = createClient(url, {}, 3);
    for (let call = 0; call < 3; call++) await client.send(get());
    expect({ calls, connections: ports.size }).toEqual({ calls: 4, connections: 1 });
  });

  it.each([
    ['a response that does not come', async () => {}],
    [
      'a response that does not end',
      async (_request: unknown, response: { write(text: string): unknown }) => void response.write('{'),
    ],
  ])('ends a call after its time with %s', async (_name, respond) => {
    const url = await startServer(respond as Parameters<typeof startHttpServer>[0]);
    await expect(createClient(url, { timeoutMs: 50 }).send(get())).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('ends a call whose connection is not established in its time', async () => {
    // Without a TLS handshake, the connection is never secure.
    const server: Server = createServer(() => {}).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push({ close: async () => void server.close() });
    const { port } = server.address() as { port: number };
    const client = createClient(`https://127.0.0.1:${port}`, { connectTimeoutMs: 50, timeoutMs: 60_000 });
    await expect(client.send(get())).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('ends a call with its signal', async () => {
    const url = await startServer(async () => {});
    const call = createClient(url).send(get(), { abortSignal: AbortSignal.timeout(20) });
    await expect(call).rejects.toMatchObject({ name: expect.stringMatching(/AbortError|TimeoutError/) });
  });
});
