import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { centralBankHost, handleCentralBankCall } from './central-bank/central-bank.ts';
import { handleControlCall } from './control.ts';
import { controlError, isControlError } from './control-error.ts';
import { allowLocalOrigin, preflightResponse } from './cross-origin.ts';
import { advanceStores, type Emulator } from './emulator.ts';
import { respondWithFault } from './faults.ts';
import { type HttpRequest, type HttpResponse, jsonResponse } from './http-messages.ts';

const maxBodyBytes = 8_000_000;
/** A client on a busy machine can send a request on a connection that the default of 5 s has just closed. */
const keepAliveTimeout = 65_000;

/**
 * Creates the HTTP server: `/control…` is the control API, `/<host>/<path>` are the stores. Calls `getEmulator` at the
 * start of each request and `save` before each response.
 */
export function createEmulatorServer(getEmulator: () => Emulator, save: () => void): Server {
  const quiet = createQuietTime();
  return createServer({ keepAliveTimeout }, async (request, response) => {
    const disconnected = new AbortController();
    response.once('close', () => response.writableFinished || disconnected.abort());
    try {
      const call = await toHttpRequest(request);
      const emulator = getEmulator();
      quiet.advance(emulator);
      const options = { onChange: quiet.end, signal: disconnected.signal };
      const result = await handleRequest(emulator, call, options).catch(toErrorResponse);
      save();
      const dated = withDate(result, emulator.clock.now());
      if (!disconnected.signal.aborted) send(response, isControlCall(call) ? allowLocalOrigin(dated, call) : dated);
    } catch (error) {
      if (!disconnected.signal.aborted) send(response, toErrorResponse(error));
    }
  });
}

/**
 * Creates the time until the next transition or retry. Before its end, reads look at no purchase but their own. A call
 * that can change something can schedule an earlier one, and ends it.
 */
function createQuietTime() {
  let quiet: { readonly emulator: Emulator; readonly until: number } | undefined;
  return {
    /** Runs everything that is due, if the time is over. */
    advance: (emulator: Emulator): void => {
      if (quiet?.emulator === emulator && emulator.clock.now() < quiet.until) return;
      quiet = { emulator, until: advanceStores(emulator) ?? Number.POSITIVE_INFINITY };
    },
    end: (): void => {
      quiet = undefined;
    },
  };
}

interface CallOptions {
  /** Called immediately before the call can change something. */
  readonly onChange: () => void;
  readonly signal: AbortSignal;
}

async function handleRequest(
  emulator: Emulator,
  call: HttpRequest,
  { onChange, signal }: CallOptions,
): Promise<HttpResponse> {
  if (isControlCall(call)) {
    if (call.method !== 'GET') onChange();
    return call.method === 'OPTIONS' ? preflightResponse : jsonResponse(200, handleControlCall(emulator, call));
  }
  const [, host = '', ...rest] = call.path.split('/');
  const storeCall = { ...call, host, path: `/${rest.join('/')}` };
  if (host === centralBankHost) return handleCentralBankCall(storeCall, emulator.clock.now());
  const candidates = emulator.stores.filter(({ hosts }) => hosts.includes(host));
  const store = candidates.find(({ acceptsCall }) => acceptsCall?.(storeCall)) ?? candidates[0];
  if (store === undefined) throw controlError(404, `The host ${host} is not emulated.`);
  const accountProblem = emulator.accountProblems.get(store.platform);
  const isRead = call.method === 'GET' || store.isQuery?.(storeCall);
  const respond = (): HttpResponse => {
    if (!isRead) onChange();
    const problem = accountProblem === undefined ? undefined : store.accountProblems[accountProblem]?.(storeCall);
    return problem ?? store.handleCall(storeCall);
  };
  return await respondWithFault(emulator.faults.consume(store.platform, call.path), store, { respond, signal });
}

const isControlCall = ({ path }: HttpRequest): boolean => path === '/control' || path.startsWith('/control/');

async function toHttpRequest(request: IncomingMessage): Promise<HttpRequest> {
  const { pathname, searchParams } = new URL(`http://emulator${request.url}`);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw controlError(413, `The body exceeds ${maxBodyBytes} bytes.`);
    chunks.push(chunk);
  }
  return {
    method: request.method ?? 'GET',
    path: pathname,
    query: searchParams,
    headers: request.headers,
    body: Buffer.concat(chunks),
  };
}

/** Adds the emulated time. Clients compare it with their clock. */
const withDate = (result: HttpResponse, now: number): HttpResponse => ({
  ...result,
  headers: { date: new Date(now).toUTCString(), ...result.headers },
});

function send(response: ServerResponse, { status, headers, body, isTruncated = false }: HttpResponse): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, 'content-length': bytes.length });
  if (!isTruncated) {
    response.end(bytes);
    return;
  }
  response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => response.destroy());
}

function toErrorResponse(error: unknown): HttpResponse {
  if (isControlError(error)) return jsonResponse(error.status, { status: error.status, message: error.message });
  const message =
    error instanceof URIError ? 'The path is not percent-encoded correctly.' : `The emulator failed: ${error}`;
  const status = error instanceof URIError ? 400 : 500;
  return jsonResponse(status, { status, message });
}
