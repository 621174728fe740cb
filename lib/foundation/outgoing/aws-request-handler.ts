import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { secondMs } from '../time.ts';

/** A request of an AWS client with the JSON protocol, without a query. */
export interface AwsRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

interface AwsResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

interface CallOptions {
  /** An `AbortSignal`. */
  readonly abortSignal?: object;
}

/** The part of the SDK's `HttpHandler` that its clients call. */
export interface AwsRequestHandler {
  readonly metadata: { readonly handlerProtocol: string };
  handle(request: AwsRequest, options?: CallOptions): Promise<{ readonly response: AwsResponse }>;
  destroy(): void;
}

/** Without them, a call waits without limit. */
interface HandlerOptions {
  readonly connectTimeoutMs?: number;
  /** Total time of a call. */
  readonly timeoutMs?: number;
}

/**
 * Creates the HTTP handler of AWS clients, in place of the SDK's `NodeHttpHandler`, which sets five timers for a call
 * and returns the response as a stream. Connections are reused.
 * @see https://docs.aws.amazon.com/sdk-for-javascript/v3/developer-guide/node-configuring-maxsockets.html
 */
export function createAwsRequestHandler({ connectTimeoutMs, timeoutMs }: HandlerOptions = {}): AwsRequestHandler {
  const agentOptions = { keepAlive: true, maxSockets: 50 };
  const [httpAgent, httpsAgent] = [new HttpAgent(agentOptions), new HttpsAgent(agentOptions)];
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    handle: async ({ protocol, hostname: host, port, method, path, headers, body }, { abortSignal } = {}) =>
      await new Promise((resolve, reject) => {
        const isHttps = protocol === 'https:';
        const agent = isHttps ? httpsAgent : httpAgent;
        const signal = abortSignal as AbortSignal | undefined;
        const options = { host, port, method, path, headers, agent, ...(signal && { signal }) };
        const call = (isHttps ? requestHttps : requestHttp)(options);
        const stopTimer = startTimer(call, timeoutMs);
        call
          .on('socket', (socket) => {
            if (!socket.connecting) return;
            const stopConnectTimer = startTimer(call, connectTimeoutMs);
            socket.once(isHttps ? 'secureConnect' : 'connect', stopConnectTimer).once('close', stopConnectTimer);
          })
          .on('response', (message) => {
            collect(message).then((response) => {
              stopTimer();
              resolve({ response });
            }, reject);
          })
          .on('error', (error) => {
            stopTimer();
            reject(error);
          })
          .end(body);
      }),
    destroy() {
      httpAgent.destroy();
      httpsAgent.destroy();
    },
  };
}

/** Ends the call after a time. The SDK repeats a call that fails with an error of this name. */
function startTimer(call: ClientRequest, ms: number | undefined): () => void {
  if (ms === undefined) return () => {};
  const error = Object.assign(new Error(`AWS did not respond within ${ms / secondMs} s.`), { name: 'TimeoutError' });
  const timer = setTimeout(() => call.destroy(error), ms);
  return () => clearTimeout(timer);
}

async function collect(message: IncomingMessage): Promise<AwsResponse> {
  const chunks = await new Promise<Uint8Array[]>((resolve, reject) => {
    const received: Uint8Array[] = [];
    message
      .on('data', (chunk: Uint8Array) => received.push(chunk))
      .on('end', () => resolve(received))
      .on('error', reject);
  });
  const [first = new Uint8Array(), ...others] = chunks;
  return {
    statusCode: message.statusCode ?? 0,
    headers: message.headers as Readonly<Record<string, string>>,
    body: others.length === 0 ? first : Buffer.concat(chunks),
  };
}
