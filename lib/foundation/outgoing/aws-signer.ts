import { createHash, createHmac } from 'node:crypto';

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
const hash = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');
const sign = (key: Uint8Array | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

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
      const bodyHash = hash(request.body ?? '');
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
      const text = [algorithm, time, scope.join('/'), hash(canonicalRequest)].join('\n');
      const signature = sign(getKey(secretAccessKey, ...scope), text).toString('hex');
      headers.authorization = `${algorithm} Credential=${accessKeyId}/${scope.join('/')}, SignedHeaders=${signedHeaders}, Signature=${signature}`;
      request.headers = headers;
      return request;
    },
  };
}
