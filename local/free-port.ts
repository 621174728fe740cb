import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { startupError } from './startup-error.ts';

/**
 * Systems take the local ports of outgoing connections from 32,768 (Linux) or 49,152 (macOS, Windows) upwards. A port
 * below cannot be taken by a connection between the time when it is found and the time when a server listens on it.
 * https://docs.kernel.org/networking/ip-sysctl.html (ip_local_port_range)
 * `fetch` rejects 10,080 as a bad port, and no port above.
 */
const [lowestPort, highestPort] = [10_081, 32_767];
const maxAttempts = 100;

/**
 * Finds an unused port of this machine, outside the range of outgoing connections. Throws if 100 random ports are in
 * use.
 */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const port = randomInt(lowestPort, highestPort + 1);
    if (await isFree(port)) return port;
  }
  throw new Error(`No port from ${lowestPort} to ${highestPort} was free in ${maxAttempts} attempts.`);
}

/** Throws a `StartupError` if the port is in use. `purpose` names the server that needs the port. */
export async function assertPortFree(port: number, purpose: string): Promise<void> {
  if (await isFree(port)) return;
  throw startupError(
    `Port ${port} for ${purpose} is in use. Stop the process that uses it, or set PORT to another port.`,
  );
}

/** Listens on the port of the loopback address briefly. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
