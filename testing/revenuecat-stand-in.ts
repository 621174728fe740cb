import { type HttpServer, startHttpServer } from '../local/http-server.ts';

/** A customer as the stand-in has them. */
export interface StandInCustomer {
  readonly id: string;
  readonly aliases?: readonly string[];
  readonly subscriptions: readonly object[];
  readonly purchases?: readonly object[];
}

interface StandInOptions {
  readonly key: string;
  /** Returns the ids of the current customers, in the order of the list. */
  readonly listIds: () => readonly string[];
  readonly findCustomer: (id: string) => Promise<StandInCustomer | undefined>;
  readonly products: readonly { readonly id: string; readonly store_identifier: string; readonly type: string }[];
  readonly entitlements: readonly {
    readonly id: string;
    readonly lookup_key: string;
    readonly products: readonly string[];
  }[];
  /** Each request with this number is rejected with 429. */
  readonly rejectedInterval?: number;
}

export interface RevenueCatStandIn extends HttpServer {
  /** Number of requests with the status 429. */
  readonly countRejected: () => number;
}

interface Reply {
  readonly status: number;
  readonly body: object;
}

const defaultLimit = 20;
const notFound: Reply = { status: 404, body: { type: 'resource_missing', message: 'Not found' } };

/**
 * Starts a server with the requests of RevenueCat's API, version 2, that a move needs. Written from its document.
 * @see https://www.revenuecat.com/docs/api-v2
 */
export async function startRevenueCatStandIn(options: StandInOptions): Promise<RevenueCatStandIn> {
  const { key, rejectedInterval = 0 } = options;
  let [requests, rejected] = [0, 0];
  const server = await startHttpServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const send = ({ status, body }: Reply, headers = {}): void =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    if (request.headers.authorization !== `Bearer ${key}`)
      return send({ status: 401, body: { type: 'authentication_error', message: 'Invalid API key.' } });
    if (rejectedInterval > 0 && ++requests % rejectedInterval === 0) {
      rejected++;
      return send({ status: 429, body: { type: 'rate_limit_error', backoff_ms: 5 } }, { 'retry-after': '1' });
    }
    send(await respond(url, options));
  });
  return { ...server, countRejected: () => rejected };
}

async function respond(url: URL, { listIds, findCustomer, products, entitlements }: StandInOptions): Promise<Reply> {
  const [, version, ...segments] = url.pathname.split('/').map(decodeURIComponent);
  const [root, project, type, id, part] = segments;
  if (version !== 'v2' || root !== 'projects') return notFound;
  if (project === undefined) return list(url, [{ id: 'proj1' }]);
  if (project !== 'proj1') return notFound;
  if (type === 'products') return list(url, products);
  if (type === 'entitlements' && id === undefined) return list(url, entitlements);
  if (type === 'entitlements') {
    const entitlement = entitlements.find((candidate) => candidate.id === id);
    return list(
      url,
      products.filter((product) => entitlement?.products.includes(product.id)),
    );
  }
  if (type !== 'customers') return notFound;
  if (id === undefined)
    return list(
      url,
      listIds().map((customerId) => ({ id: customerId })),
    );
  const customer = await findCustomer(id);
  if (!customer) return notFound;
  if (part === 'subscriptions') return list(url, customer.subscriptions as { id: string }[]);
  if (part === 'purchases') return list(url, (customer.purchases ?? []) as { id: string }[]);
  if (part === 'aliases')
    return list(
      url,
      (customer.aliases ?? []).map((alias) => ({ id: alias })),
    );
  return notFound;
}

/** A page of a list: forward only, with `next_page` unless it is the last one. */
function list({ pathname, searchParams }: URL, items: readonly { readonly id: string }[]): Reply {
  const limit = Number(searchParams.get('limit') ?? defaultLimit);
  const after = searchParams.get('starting_after');
  const start = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1;
  const page = items.slice(start, start + limit);
  const query = new URLSearchParams({ limit: String(limit), starting_after: page.at(-1)?.id ?? '' });
  const hasMore = start + limit < items.length;
  return {
    status: 200,
    body: { object: 'list', items: page, next_page: hasMore ? `${pathname}?${query}` : null, url: pathname },
  };
}
