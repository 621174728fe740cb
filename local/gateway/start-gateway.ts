import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HttpServer, startHttpServer } from '../http-server.ts';
import type { LocalFunction } from '../local-function.ts';
import { startupError } from '../startup-error.ts';
import type { GatewayDocument, Integration } from './document.ts';
import {
  compressResponse,
  type HttpResponse,
  toGatewayResponse,
  toMockResponse,
  toProxyResponse,
} from './http-response.ts';
import { type HttpRequest, toProxyEvent } from './proxy-event.ts';
import { createRouteMatcher, type MatchRoute } from './routes.ts';

interface Options {
  /** 0: any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  readonly document: GatewayDocument;
  readonly getFunction: (uri: string) => LocalFunction;
  readonly now: () => number;
  /** Replaces a request before it is routed. */
  readonly prepareRequest?: (request: HttpRequest) => Promise<HttpRequest>;
  readonly log: (text: string) => void;
}

const maxBodyBytes = 10 * 1024 * 1024;

/** Limit of Lambda for an event and for a result, as JSON. */
const maxPayloadBytes = 6_291_556;

/** Addresses of all interfaces. The URL of the service then has the loopback address. */
const allInterfaces: readonly string[] = ['0.0.0.0', '::'];

/** Serves the REST API of a template, like API Gateway. */
export async function startGateway(options: Options): Promise<HttpServer> {
  const routes = createRouteMatcher(options.document);
  const minBytes = options.document['x-amazon-apigateway-minimum-compression-size'];
  const { port, host = '127.0.0.1' } = options;
  const handle = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const requestId = randomUUID();
    try {
      const result = await handleRequest(message, requestId, { ...options, routes });
      const acceptEncoding = message.headers['accept-encoding']?.toString() ?? '';
      writeResponse(response, compressResponse(result, { acceptEncoding, minBytes }), requestId);
    } catch (error) {
      if (!message.complete) return;
      options.log(`${error instanceof Error ? error.stack : error}\n`);
      response.destroy();
    }
  };
  const server = await startHttpServer(handle, { port, host }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND'
      ? startupError(`HOST ${host} is not an address of this machine.`)
      : error;
  });
  return { ...server, url: `http://${toUrlHost(host)}:${server.port}` };
}

function toUrlHost(host: string): string {
  if (allInterfaces.includes(host)) return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** A browser opens the printed address. In AWS, the API has it. */
const consoleRedirect: HttpResponse = { status: 302, headers: [['location', '/console']], body: Buffer.alloc(0) };

async function handleRequest(
  message: IncomingMessage,
  requestId: string,
  { routes, document, prepareRequest = async (request) => request, ...options }: Options & { routes: MatchRoute },
): Promise<HttpResponse> {
  const received = await readRequest(message);
  if (received.method === 'GET' && received.path === '/') return consoleRedirect;
  const request = received.isTooLarge ? received : { ...received, ...(await prepareRequest(received)) };
  const match = routes(request.method, request.path);
  if (!match) return toGatewayResponse(document, 'MISSING_AUTHENTICATION_TOKEN');
  if (request.isTooLarge) return toGatewayResponse(document, 'REQUEST_TOO_LARGE');
  if (match.integration.type === 'mock') return toMockResponse(match.integration);
  const payload = JSON.stringify(toProxyEvent(request, match, { requestId, now: options.now() }));
  if (Buffer.byteLength(payload) > maxPayloadBytes) return toGatewayResponse(document, 'REQUEST_TOO_LARGE');
  return await invoke(match.integration, payload, { document, ...options });
}

async function invoke(
  { uri }: Integration & { type: 'aws_proxy' },
  payload: string,
  { document, getFunction, log }: Options,
): Promise<HttpResponse> {
  const invocation = await getFunction(uri).invoke(payload);
  if ('timedOut' in invocation) return toGatewayResponse(document, 'INTEGRATION_TIMEOUT');
  if ('error' in invocation) log(`${invocation.error}\n`);
  const fitsLimit = 'result' in invocation && Buffer.byteLength(invocation.result) <= maxPayloadBytes;
  return (fitsLimit && toProxyResponse(invocation.result)) || toGatewayResponse(document, 'DEFAULT_5XX');
}

/** Reads the whole request, because clients read the response only after that. Discards the part beyond the limit. */
async function readRequest(message: IncomingMessage): Promise<HttpRequest & { readonly isTooLarge: boolean }> {
  const [path = '/', ...query] = (message.url ?? '/').split('?');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
  }
  return {
    method: message.method ?? 'GET',
    path,
    query: query.join('?'),
    rawHeaders: message.rawHeaders,
    body: Buffer.concat(chunks),
    sourceIp: message.socket.remoteAddress ?? '127.0.0.1',
    isTooLarge: size > maxBodyBytes,
  };
}

function writeResponse(response: ServerResponse, { status, headers, body }: HttpResponse, requestId: string): void {
  response.statusCode = status;
  response.setHeader('x-amzn-requestid', requestId);
  for (const [name, value] of headers) response.appendHeader(name, value);
  response.end(body);
}
