import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { AccessesOf } from './accesses.ts';
import type { Permissions } from './permissions.ts';

interface Guard {
  readonly accessesOf: AccessesOf;
  readonly permissions: Permissions;
  /** Where calls go, by the service that their target begins with. */
  readonly endpoints: Readonly<Record<string, string>>;
  readonly log: (text: string) => void;
}

/** What a function has done so far, in IAM's words. */
interface Use {
  readonly did: ReadonlySet<string>;
  readonly wasDenied: ReadonlySet<string>;
}

/** Stands between the functions and the services that they call. */
export interface Gate {
  readonly endpoint: string;
  /** By the function's id in the template. */
  readonly uses: ReadonlyMap<string, Use>;
  close(): Promise<void>;
}

/**
 * Lets the calls of functions through that their policies allow, and answers all others as the cloud would. A function is
 * known by its access key, which is its id in the template.
 */
export async function startGate(guard: Guard): Promise<Gate> {
  const agent = new Agent({ keepAlive: true });
  const uses = new Map(
    guard.permissions.functions.map((id) => [id, { did: new Set<string>(), wasDenied: new Set<string>() }]),
  );
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => undefined);
    if (!body) return;
    const denied = deniedOf(request, body.toString('utf8'), guard);
    const use = uses.get(callerOf(request));
    if (denied === undefined) {
      use?.did.add(targetOf(request));
      pass(request, body, { response, agent, to: endpointOf(request, guard) });
    } else {
      use?.wasDenied.add(denied);
      refuse(response, denied, guard.log);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    uses,
    close: async () => {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

const targetOf = ({ headers }: IncomingMessage): string => String(headers['x-amz-target'] ?? '');
const callerOf = ({ headers }: IncomingMessage): string =>
  /Credential=([^/]+)\//.exec(headers.authorization ?? '')?.[1] ?? '';

/** Why the call is not allowed; undefined for one that is. */
function deniedOf(request: IncomingMessage, body: string, { accessesOf, permissions }: Guard): string | undefined {
  const caller = callerOf(request);
  try {
    const denied = accessesOf({ target: targetOf(request), body }).find(
      (access) => !permissions.allows(caller, access),
    );
    return denied && `${caller} is not authorized to perform: ${denied.action} on resource: ${denied.resource}`;
  } catch (thrown) {
    return `${caller}: ${String(thrown)}`;
  }
}

function endpointOf(request: IncomingMessage, { endpoints }: Guard): string {
  const [service = ''] = targetOf(request).split(/[._]/);
  const endpoint = endpoints[service];
  if (endpoint === undefined) throw new Error(`There is no ${service} here.`);
  return endpoint;
}

function refuse(response: ServerResponse, why: string, log: Guard['log']): void {
  log(`${why}\n`);
  response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify({ __type: 'com.amazonaws#AccessDeniedException', message: why }));
}

function pass(
  { url, method, headers }: IncomingMessage,
  body: Buffer,
  { response, agent, to }: { readonly response: ServerResponse; readonly agent: Agent; readonly to: string },
): void {
  const { host: _host, ...kept } = headers;
  const onward = send(new URL(url ?? '/', to), { method, headers: kept, agent }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  // The caller meets what the service did: a connection that broke.
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  onward.end(body);
}
