import { once } from 'node:events';
import { createServer } from 'node:net';
import { startupError } from './startup-error.ts';

/** Finds an unused port of this machine. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port is available.');
  return address.port;
}

/** Throws a `StartupError` if the port is in use. `purpose` names the server that needs the port. */
export async function assertPortFree(port: number, purpose: string): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    throw startupError(
      `Port ${port} for ${purpose} is in use. Stop the process that uses it, or set PORT to another port.`,
    );
  }
  server.close();
  await once(server, 'close');
}
