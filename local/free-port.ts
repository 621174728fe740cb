import { once } from 'node:events';
import { createServer } from 'node:net';
import { startupError } from './startup-error.ts';

/** A port of this machine that nothing listens on at the moment. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('The machine gave no port.');
  return address.port;
}

/** Throws a `CannotStart` when something listens on the port already; `purpose` says what it was wanted for. */
export async function assertPortFree(port: number, purpose: string): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    throw startupError(
      `Port ${port}, wanted for ${purpose}, is in use: stop what uses it, or choose another with PORT.`,
    );
  }
  server.close();
  await once(server, 'close');
}
