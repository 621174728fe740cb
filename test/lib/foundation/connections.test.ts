import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, getDefaultAutoSelectFamilyAttemptTimeout, type Socket } from 'node:net';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, it } from '@jest/globals';
import { setConnectionAttemptTimeout } from '../../../lib/foundation/container.ts';
import { awsClientOptions } from '../../../lib/foundation/outgoing/aws-client.ts';
import { startHttpServer } from '../../../local/http-server.ts';

describe('awsClientOptions', () => {
  it('fails a call without response, so that it can be retried within the time of a function', async () => {
    const server = await startHttpServer(() => new Promise(() => {}));
    const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
    const client = new DynamoDBClient({
      ...awsClientOptions,
      maxAttempts: 1,
      endpoint: server.url,
      region: 'us-east-1',
      credentials,
    });
    const call = client.send(new GetItemCommand({ TableName: 'table', Key: { pk: { S: 'a' } } }));
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
    client.destroy();
    await server.close();
  });
});

/**
 * A server whose accept queue is full: the kernel drops the next connection request, and the client repeats it after
 * one second. `SIGCONT` lets it accept.
 */
const serverScript = `
  const server = require('node:http').createServer((_request, response) => response.end('late'));
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    process.stdout.write(String(server.address().port));
    process.kill(process.pid, 'SIGSTOP');
  });
`;

describe('setConnectionAttemptTimeout', () => {
  let server: ChildProcess | undefined;
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    server?.kill('SIGKILL');
  });

  it('connects to a host whose handshake takes longer than 250 ms and that also has an IPv6 address', async () => {
    setConnectionAttemptTimeout();
    expect(getDefaultAutoSelectFamilyAttemptTimeout()).toBeGreaterThan(1_000);
    server = spawn(process.execPath, ['-e', serverScript], { stdio: ['ignore', 'pipe', 'inherit'] });
    if (!server.stdout) throw new Error('The server has no output.');
    const [output] = (await once(server.stdout, 'data')) as [Buffer];
    const port = Number(output);
    // These connections fill the accept queue.
    for (let index = 0; index < 2; index++) {
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket.on('error', () => {}));
      await once(socket, 'connect');
    }
    const response = new Promise<number | undefined>((resolve, reject) => {
      const lookup = (_host: string, _options: object, callback: (error: null, addresses: object[]) => void) =>
        callback(null, [
          { address: '127.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ]);
      request({ host: 'app.example.com', port, agent: false, lookup: lookup as never })
        .on('response', ({ statusCode }) => resolve(statusCode))
        .on('error', reject)
        .end();
    });
    // By then, the first handshake has failed and Node's default would have chosen the other address.
    const waited = new Promise((resolve) => setTimeout(resolve, 500));
    await Promise.race([waited, response]);
    server.kill('SIGCONT');
    expect(await response).toBe(200);
  });
});
