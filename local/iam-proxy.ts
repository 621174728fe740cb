import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildDenialBody, decideAccess, deniedStatus, getServiceName, isTableWrite } from './iam-actions.ts';
import type { IamPolicies } from './iam-policies.ts';
import type { IamUsage } from './iam-usage.ts';
import { keepAliveTimeout } from './keep-alive-timeout.ts';

interface IamProxyOptions {
  readonly policies: IamPolicies;
  /** Endpoint of each service: see `getServiceName`. */
  readonly endpoints: Readonly<Record<string, string>>;
  readonly usage: IamUsage;
  /** Called after each write to a table. */
  readonly onWrite: () => void;
}

/** A proxy between the commands, which run in other processes, and AWS services. */
export interface IamProxy {
  readonly endpoint: string;
  close(): Promise<void>;
}

/**
 * Forwards the AWS calls that the caller's policies allow and rejects all others with `AccessDeniedException`. The
 * access key of an operator is the logical id of a managed policy.
 */
export async function startIamProxy({ policies, endpoints, usage, onWrite }: IamProxyOptions): Promise<IamProxy> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer({ keepAliveTimeout }, async (request, response) => {
    const chunks = await request.toArray().catch(() => undefined);
    if (!chunks) return;
    const body = Buffer.concat(chunks);
    const call = { target: String(request.headers['x-amz-target'] ?? ''), body: body.toString('utf8') };
    const callerId = /Credential=([^/]+)\//.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const decision = decideAccess(policies, callerId, call);
    usage.record({ callerId, target: call.target, decision });
    if ('denial' in decision) {
      response.writeHead(deniedStatus, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(buildDenialBody(decision.denial));
      return;
    }
    if (isTableWrite(call)) response.once('close', onWrite);
    forward(request, body, { response, agent, to: endpoints[getServiceName(call)] ?? '' });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

function forward(
  { url, method, headers }: IncomingMessage,
  body: Buffer,
  { response, agent, to }: { readonly response: ServerResponse; readonly agent: Agent; readonly to: string },
): void {
  const { host: _host, ...forwardedHeaders } = headers;
  const upstream = send(new URL(url ?? '/', to), { method, headers: forwardedHeaders, agent }, (result) => {
    response.writeHead(result.statusCode ?? 500, result.headers);
    result.pipe(response);
  });
  // Passes a broken connection on to the caller.
  upstream.on('error', () => response.destroy());
  response.on('close', () => upstream.destroy());
  upstream.end(body);
}
