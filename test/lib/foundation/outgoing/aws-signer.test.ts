import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from '@jest/globals';
import { createAwsSigner } from '../../../../lib/foundation/outgoing/aws-client.ts';

const toRequest = (body: string, port?: number, path = '/') => {
  const hostname = 'dynamodb.eu-west-1.amazonaws.com';
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    host: port === undefined ? hostname : `${hostname}:${port}`,
    'x-amz-target': 'DynamoDB_20120810.GetItem',
  };
  return { method: 'POST', protocol: 'https:', hostname, path, query: {}, headers, body, ...(port && { port }) };
};
type Request = ReturnType<typeof toRequest>;
const signingDate = new Date('2026-03-04T05:06:07.890Z');

/** Signs a request with the SDK's own signer. */
async function signWithSdk(client: DynamoDBClient, request: Request): Promise<Request> {
  const scheme = { name: 'sigv4', signingName: 'dynamodb', signingRegion: 'eu-west-1', properties: {} };
  const signer = await client.config.signer(scheme);
  return (await signer.sign(request as never, { signingDate })) as unknown as Request;
}

describe('createAwsSigner', () => {
  it.each([
    ['temporary credentials, as in Lambda', 'a-session-token', undefined, '{"Key":{"pk":{"S":"ü"}}}', '/'],
    ['credentials of a user', undefined, undefined, '{}', '/'],
    ['a port', undefined, 8000, '', '/'],
    ['a path', undefined, undefined, '{}', '/v1/traces'],
  ])('signs like the SDK with %s', async (_name, sessionToken, port, body, path) => {
    const credentials = {
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI',
      ...(sessionToken && { sessionToken }),
    };
    const client = new DynamoDBClient({ region: 'eu-west-1', credentials });
    const signed = await createAwsSigner('dynamodb', () => client.config).sign(toRequest(body, port, path), {
      signingDate,
    });
    expect(signed.headers).toEqual((await signWithSdk(client, toRequest(body, port, path))).headers);
  });

  it('uses new credentials and a new day, and a repeated request is signed again', async () => {
    let secretAccessKey = 'first';
    const config = {
      credentials: async () => ({ accessKeyId: 'key', secretAccessKey }),
      region: async () => 'eu-west-1',
    };
    const signer = createAwsSigner('dynamodb', () => config);
    const request = toRequest('{}');
    const signatures: (string | undefined)[] = [];
    const sign = async (date: Date) =>
      void signatures.push(
        ((await signer.sign(request, { signingDate: date })).headers as Record<string, string>).authorization,
      );
    await sign(signingDate);
    await sign(new Date(signingDate.getTime() + 86_400_000));
    secretAccessKey = 'second';
    await sign(signingDate);
    secretAccessKey = 'first';
    await sign(signingDate);
    expect(new Set(signatures).size).toBe(3);
    expect(signatures[3]).toBe(signatures[0]);
  });
});
