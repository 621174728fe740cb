import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { assertPortFree, findFreePort } from '../../local/free-port.ts';

describe('findFreePort', () => {
  it('returns ports that the system does not give to outgoing connections', async () => {
    const ports = await Promise.all(Array.from({ length: 50 }, findFreePort));
    expect(Math.min(...ports)).toBeGreaterThanOrEqual(10_000);
    expect(Math.max(...ports)).toBeLessThan(32_768);
    expect(new Set(ports).size).toBeGreaterThan(40);
  });

  it('returns a port that a server can listen on', async () => {
    const server = createServer().listen(await findFreePort(), '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
  });
});

describe('assertPortFree', () => {
  it('rejects the port of an outgoing connection', async () => {
    const server = createServer().listen(await findFreePort(), '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const connection = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1');
    await once(connection, 'connect');
    const { localPort = 0 } = connection;
    await expect(assertPortFree(localPort, 'the service')).rejects.toThrow(
      `Port ${localPort} for the service is in use.`,
    );
    connection.destroy();
    server.close();
    await once(server, 'close');
  });
});
