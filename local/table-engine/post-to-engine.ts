import { Agent, type IncomingMessage, request } from 'node:http';

interface EngineResponse {
  readonly status: number;
  readonly text: string;
}

/** The engines require a signature and do not verify it. */
const scope = '20260101/eu-west-1/dynamodb/aws4_request';

const agent = new Agent({ keepAlive: true });

/**
 * Sends a request with the API of DynamoDB to a table engine. The SDK takes two thirds of the processor time of a
 * call. `target` is `<API version>.<operation>`.
 */
export async function postToEngine(endpoint: string, target: string, body: string): Promise<EngineResponse> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'content-length': Buffer.byteLength(body),
      'x-amz-date': '20260101T000000Z',
      'x-amz-target': target,
      authorization: `AWS4-HMAC-SHA256 Credential=local/${scope}, SignedHeaders=host, Signature=0`,
    };
    request(endpoint, { method: 'POST', agent, headers }, resolve).on('error', reject).end(body);
  });
  return { status: response.statusCode ?? 0, text: Buffer.concat(await response.toArray()).toString('utf8') };
}
