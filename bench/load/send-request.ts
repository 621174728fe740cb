import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

interface Request {
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const agent = new Agent({ keepAlive: true });

/** Sends a request like `fetch`, with less processor time: the generator shares the cores with the service. */
export async function sendRequest(
  url: string,
  { method = 'GET', headers, body }: Request,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { method, agent, headers: { ...headers, 'accept-encoding': 'gzip' } };
    request(url, options, resolve).on('error', reject).end(body);
  });
  const bytes = await buffer(response);
  const isCompressed = response.headers['content-encoding'] === 'gzip';
  return { status: response.statusCode ?? 0, text: (isCompressed ? gunzipSync(bytes) : bytes).toString('utf8') };
}
