import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LocalFunction } from '../local-function.ts';
import type { GatewayDocument, Integration } from './document.ts';
import { proxyEvent, type WireRequest } from './proxy-event.ts';
import { type Routes, routesOf } from './routes.ts';
import { gatewayAnswer, mockAnswer, proxyAnswer, type WireAnswer } from './wire-answer.ts';

interface Options {
  /** 0 takes any free port. */
  readonly port: number;
  readonly document: GatewayDocument;
  /** The function that an integration's URI names. */
  readonly functionOf: (uri: string) => LocalFunction;
  readonly now: () => number;
  /** Takes what went wrong in a function. */
  readonly log: (text: string) => void;
}

/** The REST API, listening. */
export interface Gateway {
  readonly url: string;
  close(): Promise<void>;
}

const largestBodyBytes = 10 * 1024 * 1024;
/** Of an event for Lambda and of its result, in JSON. */
const largestPayloadBytes = 6_291_556;

/** Serves the REST API of a template on 127.0.0.1 as API Gateway would. */
export async function startGateway(options: Options): Promise<Gateway> {
  const routes = routesOf(options.document);
  const server = createServer(async (message, response) => {
    const requestId = randomUUID();
    try {
      send(response, await answerTo(message, requestId, { ...options, routes }), requestId);
    } catch (thrown) {
      if (!message.complete) return;
      options.log(`${thrown instanceof Error ? thrown.stack : thrown}\n`);
      response.destroy();
    }
  });
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answerTo(
  message: IncomingMessage,
  requestId: string,
  { routes, document, ...options }: Options & { routes: Routes },
): Promise<WireAnswer> {
  const request = await read(message);
  const match = routes(request.method, request.path);
  if (!match) return gatewayAnswer(document, 'MISSING_AUTHENTICATION_TOKEN');
  if (request.isTooLarge) return gatewayAnswer(document, 'REQUEST_TOO_LARGE');
  if (match.integration.type === 'mock') return mockAnswer(match.integration);
  const payload = JSON.stringify(proxyEvent(request, match, { requestId, now: options.now() }));
  if (Buffer.byteLength(payload) > largestPayloadBytes) return gatewayAnswer(document, 'REQUEST_TOO_LARGE');
  return await invoke(match.integration, payload, { document, ...options });
}

async function invoke(
  { uri }: Integration & { type: 'aws_proxy' },
  payload: string,
  { document, functionOf, log }: Options,
): Promise<WireAnswer> {
  const ending = await functionOf(uri).invoke(payload);
  if ('timedOut' in ending) return gatewayAnswer(document, 'INTEGRATION_TIMEOUT');
  if ('error' in ending) log(`${ending.error}\n`);
  const isWhole = 'result' in ending && Buffer.byteLength(ending.result) <= largestPayloadBytes;
  return (isWhole && proxyAnswer(ending.result)) || gatewayAnswer(document, 'DEFAULT_5XX');
}

/** Reads the request to its end, so that the answer can be read too; what is beyond the limit is not kept. */
async function read(message: IncomingMessage): Promise<WireRequest & { readonly isTooLarge: boolean }> {
  const [path = '/', ...query] = (message.url ?? '/').split('?');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= largestBodyBytes) chunks.push(chunk);
  }
  return {
    method: message.method ?? 'GET',
    path,
    query: query.join('?'),
    rawHeaders: message.rawHeaders,
    body: Buffer.concat(chunks),
    sourceIp: message.socket.remoteAddress ?? '127.0.0.1',
    isTooLarge: size > largestBodyBytes,
  };
}

function send(response: ServerResponse, { status, headers, body }: WireAnswer, requestId: string): void {
  response.statusCode = status;
  response.setHeader('x-amzn-requestid', requestId);
  for (const [name, value] of headers) response.appendHeader(name, value);
  response.end(body);
}
