import { createHmac, hash } from 'node:crypto';
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
  /** Names the operations without a complete response, such as `DynamoDB_20120810.Query`. */
  listPending(): string;
  destroy(): void;
}

/** Configuration of AWS clients. */
export interface AwsClientOptions {
  readonly maxAttempts?: number;
  readonly requestHandler?:
    | AwsRequestHandler
    | {
        readonly connectionTimeout: number;
        readonly requestTimeout: number;
        readonly throwOnRequestTimeout: boolean;
        readonly listPending?: never;
      };
}

/**
 * Options for AWS. A lost connection must fail while the function has time to retry: by default, the SDK waits without
 * limit. Every operation of the service is idempotent or conditional.
 */
export const awsClientOptions = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: secondMs, requestTimeout: 5 * secondMs, throwOnRequestTimeout: true },
};

/** Without them, nothing is limited. */
interface HandlerOptions {
  readonly connectTimeoutMs?: number;
  /** Total time of a call. */
  readonly timeoutMs?: number;
  /** Time for which a connection is kept without a call. */
  readonly idleMs?: number;
  readonly maxResponseBytes?: number;
}

/** A request before its signature. */
interface UnsignedRequest {
  readonly hostname: string;
  readonly path: string;
  readonly port?: number | undefined;
  headers: Record<string, string>;
  readonly body?: Uint8Array | string;
}

interface SigningContext {
  readonly signingDate?: Date;
  readonly signingRegion?: string;
}

/** The part of a client's configuration that signs. The credentials are cached until they expire. */
interface SigningConfig {
  credentials(): Promise<{
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string | undefined;
  }>;
  region(): Promise<string>;
}

const algorithm = 'AWS4-HMAC-SHA256';
const digest = (content: Uint8Array | string): string => hash('sha256', content, 'hex');
const sign = (key: Uint8Array | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/**
 * Creates the HTTP handler of AWS clients, instead of the SDK's `NodeHttpHandler`, which sets five timers for a call
 * and returns the response as a stream. It also calls the stores: the global `fetch` takes twice its processor time.
 * Connections are reused.
 * @see https://docs.aws.amazon.com/sdk-for-javascript/v3/developer-guide/node-configuring-maxsockets.html
 */
export function createRequestHandler({
  connectTimeoutMs,
  timeoutMs,
  idleMs,
  maxResponseBytes = Number.POSITIVE_INFINITY,
}: HandlerOptions = {}): AwsRequestHandler {
  const agentOptions = { keepAlive: true, maxSockets: 50, timeout: idleMs };
  const httpAgent = new HttpAgent(agentOptions);
  const httpsAgent = new HttpsAgent(agentOptions);
  const pending = new Map<ClientRequest, string>();
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    listPending: () => [...new Set(pending.values())].join(', '),
    handle: async (request, { abortSignal } = {}) =>
      await new Promise((resolve, reject) => {
        const isHttps = request.protocol === 'https:';
        const agent = isHttps ? httpsAgent : httpAgent;
        const call = (isHttps ? requestHttps : requestHttp)({ ...request, agent, signal: abortSignal as AbortSignal });
        const timer = startTimer(call, timeoutMs);
        pending.set(call, request.headers['x-amz-target'] ?? request.hostname);
        call
          .on('socket', (socket) => {
            if (!socket.connecting) return;
            const connectTimer = startTimer(call, connectTimeoutMs);
            const stopTimer = () => clearTimeout(connectTimer);
            socket.once(isHttps ? 'secureConnect' : 'connect', stopTimer).once('close', stopTimer);
          })
          .on('response', (message) => {
            const chunks: Uint8Array[] = [];
            let bytes = 0;
            message
              .on('data', (chunk: Uint8Array) => {
                chunks.push(chunk);
                bytes += chunk.length;
                if (bytes > maxResponseBytes) message.destroy(new Error('The response is too large.'));
              })
              .on('end', () => resolve({ response: toResponse(message, chunks) }))
              .on('error', reject);
          })
          .on('error', reject)
          .on('close', () => {
            clearTimeout(timer);
            pending.delete(call);
          })
          .end(request.body);
      }),
    destroy() {
      httpAgent.destroy();
      httpsAgent.destroy();
    },
  };
}

/** Ends the call after a time. The SDK repeats a call that fails with an error of this name. */
const startTimer = (call: ClientRequest, ms: number | undefined) =>
  ms === undefined
    ? undefined
    : setTimeout(() => {
        const error = new Error(`AWS did not respond within ${ms / secondMs} s.`);
        call.destroy(Object.assign(error, { name: 'TimeoutError' }));
      }, ms);

const toResponse = ({ statusCode = 0, headers }: IncomingMessage, chunks: readonly Uint8Array[]): AwsResponse => ({
  statusCode,
  headers: headers as AwsResponse['headers'],
  // Most responses have one part, which needs no copy.
  body: chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks),
});

/**
 * Creates the signer of a client whose requests are POST requests without a query, with a plain path. The SDK's own
 * signer copies the configuration of the client for each call and computes the key again.
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function createAwsSigner(service: string, getConfig: () => SigningConfig) {
  let cached: { readonly id: string; readonly key: Buffer } | undefined;
  const getKey = (secret: string, ...scope: readonly string[]): Buffer => {
    const id = [secret, ...scope].join('/');
    if (cached?.id !== id) cached = { id, key: scope.reduce<Buffer>(sign, Buffer.from(`AWS4${secret}`)) };
    return cached.key;
  };
  return {
    async sign<R extends UnsignedRequest>(request: R, { signingDate, signingRegion }: SigningContext = {}): Promise<R> {
      const { accessKeyId, secretAccessKey, sessionToken } = await getConfig().credentials();
      const region = signingRegion ?? (await getConfig().region());
      const time = (signingDate ?? new Date()).toISOString().replace(/[:-]|\.\d+/g, '');
      const scope = [time.slice(0, 8), region, service, 'aws4_request'];
      const bodyHash = digest(request.body ?? '');
      const headers: Record<string, string> = {
        ...request.headers,
        host: request.port === undefined ? request.hostname : `${request.hostname}:${request.port}`,
        'x-amz-date': time,
        'x-amz-content-sha256': bodyHash,
        ...(sessionToken && { 'x-amz-security-token': sessionToken }),
      };
      const names = Object.keys(headers)
        .filter((name) => name === 'host' || name === 'content-type' || name.startsWith('x-amz-'))
        .sort();
      const signedHeaders = names.join(';');
      const canonicalHeaders = names.map((name) => `${name}:${headers[name]}\n`).join('');
      const canonicalRequest = `POST\n${request.path}\n\n${canonicalHeaders}\n${signedHeaders}\n${bodyHash}`;
      const text = [algorithm, time, scope.join('/'), digest(canonicalRequest)].join('\n');
      const signature = sign(getKey(secretAccessKey, ...scope), text).toString('hex');
      headers.authorization = `${algorithm} Credential=${accessKeyId}/${scope.join('/')}, SignedHeaders=${signedHeaders}, Signature=${signature}`;
      request.headers = headers;
      return request;
    },
  };
}
