import { secondMs } from '../time.ts';
import { createAwsSigner, createRequestHandler } from './aws-client.ts';

/** The response of the service waits for the receiver at most so long. */
const timeoutMs = secondMs;

/**
 * Creates a function that posts spans in JSON to an OTLP receiver. Requests to the receiver of CloudWatch are signed
 * with the role of the function. Throws without a 2xx response.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-OTLPEndpoint.html
 */
export function createPostSpans(url: string, environment: NodeJS.ProcessEnv): (body: string) => Promise<void> {
  const { protocol, hostname, port, pathname: path } = new URL(url);
  const handler = createRequestHandler({ connectTimeoutMs: timeoutMs, timeoutMs });
  const region = /^xray\.([\w-]+)\.amazonaws\.com(?:\.cn)?$/.exec(hostname)?.[1];
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = environment;
  const credentials = { accessKeyId, secretAccessKey, sessionToken: environment.AWS_SESSION_TOKEN };
  const signer =
    region === undefined
      ? undefined
      : createAwsSigner('xray', () => ({ credentials: async () => credentials, region: async () => region }));
  return async (body) => {
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
    const target = { protocol, hostname, path, ...(port && { port: Number(port) }) };
    const request = { ...target, method: 'POST', headers, body };
    const { response } = await handler.handle(signer ? await signer.sign(request) : request);
    if (response.statusCode < 200 || response.statusCode > 299)
      throw new Error(`The receiver of spans responded with ${response.statusCode}.`);
  };
}
