import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { ToIamAccesses } from './iam-actions.ts';
import type { IamPolicies } from './iam-policies.ts';

interface IamProxyOptions {
  readonly accessesOf: ToIamAccesses;
  readonly permissions: IamPolicies;
  /** Where calls go, by the service that their target begins with. */
  readonly endpoints: Readonly<Record<string, string>>;
  readonly log: (text: string) => void;
}

/** What a function has done so far, in IAM's words. */
interface FunctionUsage {
  readonly allowed: ReadonlySet<string>;
  readonly denied: ReadonlySet<string>;
}

/** Stands between the functions and the services that they call. */
export interface IamProxy {
  readonly endpoint: string;
  /** By the function's id in the template. */
  readonly usageByFunction: ReadonlyMap<string, FunctionUsage>;
  close(): Promise<void>;
}

/**
 * Lets the calls of functions through that their policies allow, and answers all others as the cloud would. A function is
 * known by its access key, which is its id in the template.
 */
export async function startIamProxy(guard: IamProxyOptions): Promise<IamProxy> {
  const agent = new Agent({ keepAlive: true });
  const usageByFunction = new Map(
    guard.permissions.functions.map((id) => [id, { allowed: new Set<string>(), denied: new Set<string>() }]),
  );
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => undefined);
    if (!body) return;
    const denied = findDenial(request, body.toString('utf8'), guard);
    const use = usageByFunction.get(getCaller(request));
    if (denied === undefined) {
      use?.allowed.add(getTarget(request));
      forward(request, body, { response, agent, to: findEndpoint(request, guard) });
    } else {
      use?.denied.add(denied);
      respondDenied(response, denied, guard.log);
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
const getCaller = ({ headers }: IncomingMessage): string =>
  /Credential=([^/]+)\//.exec(headers.authorization ?? '')?.[1] ?? '';

/** Why the call is not allowed; undefined for one that is. */
function findDenial(
  request: IncomingMessage,
  body: string,
  { accessesOf, permissions }: IamProxyOptions,
): string | undefined {
  const caller = getCaller(request);
  try {
    const denied = accessesOf({ target: getTarget(request), body }).find(
      (access) => !permissions.allows(caller, access),
    );
    return denied && `${caller} is not authorized to perform: ${denied.action} on resource: ${denied.resource}`;
  } catch (error) {
    return `${caller}: ${String(error)}`;
  }
}

function findEndpoint(request: IncomingMessage, { endpoints }: IamProxyOptions): string {
  const [service = ''] = getTarget(request).split(/[._]/);
  const endpoint = endpoints[service];
  if (endpoint === undefined) throw new Error(`There is no ${service} here.`);
  return endpoint;
}

function respondDenied(response: ServerResponse, why: string, log: IamProxyOptions['log']): void {
  log(`${why}\n`);
  response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify({ __type: 'com.amazonaws#AccessDeniedException', message: why }));
}

function forward(
  { url, method, headers }: IncomingMessage,
  body: Buffer,
  { response, agent, to }: { readonly response: ServerResponse; readonly agent: Agent; readonly to: string },
): void {
  const { host: _host, ...kept } = headers;
  const onward = send(new URL(url ?? '/', to), { method, headers: kept, agent }, (result) => {
    response.writeHead(result.statusCode ?? 500, result.headers);
    result.pipe(response);
  });
  // The caller meets what the service did: a connection that broke.
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  onward.end(body);
}
