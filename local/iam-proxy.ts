import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ToIamAccesses } from './iam-actions.ts';
import type { IamAccess, IamPolicies } from './iam-policies.ts';
import { keepAliveTimeout } from './keep-alive-timeout.ts';

interface IamProxyOptions {
  readonly toAccesses: ToIamAccesses;
  readonly policies: IamPolicies;
  /** Endpoint of each service, by the prefix of `x-amz-target`. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** Receives each allowed access with the id of its caller. */
  readonly onAccess?: OnAccess | undefined;
  /** Called after each write to a table. */
  readonly onWrite: () => void;
  readonly log: (text: string) => void;
}

export type OnAccess = (callerId: string, access: IamAccess) => void;

/** IAM actions that a function has attempted so far. */
interface FunctionUsage {
  readonly allowed: ReadonlySet<string>;
  readonly denied: ReadonlySet<string>;
}

/** A proxy between the functions and AWS services that enforces the IAM policies. */
export interface IamProxy {
  readonly endpoint: string;
  /** Usage by logical id of the function. */
  readonly usageByFunction: ReadonlyMap<string, FunctionUsage>;
  close(): Promise<void>;
}

/**
 * Forwards the AWS calls that the caller's policies allow and rejects all others with `AccessDeniedException`. The
 * access key of a function is its logical id, and that of an operator the logical id of a managed policy.
 */
export async function startIamProxy(options: IamProxyOptions): Promise<IamProxy> {
  const agent = new Agent({ keepAlive: true });
  const usageByFunction = new Map(
    options.policies.functions.map((id) => [id, { allowed: new Set<string>(), denied: new Set<string>() }]),
  );
  const server = createServer({ keepAliveTimeout }, async (request, response) => {
    // `node:stream/consumers` creates a Blob, which takes a third of the processor time of a local call.
    const chunks = await request.toArray().catch(() => undefined);
    if (!chunks) return;
    const body = Buffer.concat(chunks);
    const denied = findDenial(request, body.toString('utf8'), options);
    const usage = usageByFunction.get(getCaller(request));
    if (denied === undefined) {
      usage?.allowed.add(getTarget(request));
      if (isTableWrite(getTarget(request))) response.once('close', options.onWrite);
      forward(request, body, { response, agent, to: findEndpoint(request, options) });
    } else {
      usage?.denied.add(denied);
      respondDenied(response, denied, options.log);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    usageByFunction,
    close: async () => {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

const getTarget = ({ headers }: IncomingMessage): string => String(headers['x-amz-target'] ?? '');
const isTableWrite = (target: string): boolean =>
  /^DynamoDB_\d+\.(?:Put|Update|Delete|BatchWrite|TransactWrite)Items?$/.test(target);
const getCaller = ({ headers }: IncomingMessage): string =>
  /Credential=([^/]+)\//.exec(headers.authorization ?? '')?.[1] ?? '';

/** Returns the reason why the call is denied, or undefined if it is allowed. */
function findDenial(
  request: IncomingMessage,
  body: string,
  { toAccesses, policies, onAccess = () => {} }: IamProxyOptions,
): string | undefined {
  const caller = getCaller(request);
  try {
    const accesses = toAccesses({ target: getTarget(request), body });
    const denied = accesses.find((access) => !policies.allows(caller, access));
    if (!denied) for (const access of accesses) onAccess(caller, access);
    return denied && `${caller} is not authorized to perform: ${denied.action} on resource: ${denied.resource}`;
  } catch (error) {
    return `${caller}: ${String(error)}`;
  }
}

function findEndpoint(request: IncomingMessage, { endpoints }: IamProxyOptions): string {
  const [service = ''] = getTarget(request).split(/[._]/);
  const endpoint = endpoints[service];
  if (endpoint === undefined) throw new Error(`${service} does not run on this machine.`);
  return endpoint;
}

function respondDenied(response: ServerResponse, reason: string, log: IamProxyOptions['log']): void {
  log(`${reason}\n`);
  response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify({ __type: 'com.amazonaws#AccessDeniedException', message: reason }));
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
