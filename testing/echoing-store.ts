import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What stands in for every store and repeats in its refusals whatever it was sent, as real stores sometimes do. */
export async function startEchoingStore(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const sent = Buffer.concat(chunks).toString('utf8');
      const isToken = /token$/.test(new URL(request.url ?? '', 'http://store').pathname) && request.method === 'POST';
      const heard = `Refused: ${request.url} ${decodeURIComponent(request.url ?? '')} ${sent} ${request.headers.authorization}`;
      const granted = { access_token: 'CANARY-of-the-store', token_type: 'Bearer', expires_in: 3600 };
      const refused = { error: { code: 400, message: heard, type: 'invalid_request_error' }, message: heard };
      response.writeHead(isToken ? 200 : 400, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isToken ? granted : refused));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => await new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}
