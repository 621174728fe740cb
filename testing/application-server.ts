import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the application's server got. */
export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An answer; `hangs` never comes. */
interface ServerResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly hangs?: boolean;
}

/** A server as an application runs one, with answers that a test chooses. */
export interface ApplicationServer {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /** What the server answers from now on. */
  respondWith(how: ServerResponse | ((taken: ReceivedRequest) => ServerResponse)): void;
  close(): Promise<void>;
}

export async function startApplicationServer(): Promise<ApplicationServer> {
  const requests: ReceivedRequest[] = [];
  let answering: (taken: ReceivedRequest) => ServerResponse = () => ({ status: 200 });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url: path = '', headers } = request;
      const result = { path, headers, body: Buffer.concat(chunks).toString('utf8') };
      requests.push(result);
      const { status, headers: sent = {}, body = '', hangs } = answering(result);
      if (!hangs) response.writeHead(status, { ...sent }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    respondWith(how) {
      answering = typeof how === 'function' ? how : () => how;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
