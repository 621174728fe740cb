import { createRequestHandler } from '../lib/foundation/outgoing/aws-client.ts';
import { type AwsAccess, createCheckedHandler } from './checked-aws-calls.ts';
import { type HttpServer, startHttpServer } from './http-server.ts';
import type { IamUsage } from './iam-usage.ts';

interface IamProxyOptions extends AwsAccess {
  readonly usage: IamUsage;
  readonly onWrite: () => void;
}

/**
 * Starts the proxy between the commands, which run in other processes, and AWS services. It checks their calls like
 * those of functions. The access key of an operator is the logical id of a managed policy.
 */
export async function startIamProxy({ usage, onWrite, ...access }: IamProxyOptions): Promise<HttpServer> {
  const engines = createRequestHandler();
  const server = await startHttpServer(async (request, response) => {
    const { url: path = '/', method = 'POST' } = request;
    const { host: _host, ...headers } = request.headers as Readonly<Record<string, string>>;
    const id = /Credential=([^/]+)\//.exec(headers.authorization ?? '')?.[1] ?? '';
    const handler = createCheckedHandler({ id, isEnded: () => false, onCall: usage.record, onWrite }, access, engines);
    const closing = new AbortController();
    response.once('close', () => closing.abort());
    try {
      const body = Buffer.concat(await request.toArray());
      const call = { protocol: 'http:', hostname: '', method, path, headers, body };
      const { response: result } = await handler.handle(call, { abortSignal: closing.signal });
      response.writeHead(result.statusCode, result.headers).end(result.body);
    } catch {
      // Passes a broken connection on to the caller.
      response.destroy();
    }
  });
  return {
    ...server,
    close: async () => {
      await server.close();
      engines.destroy();
    },
  };
}
