import { lookup, Resolver } from 'node:dns/promises';
import { secondMs } from '../time.ts';

export interface ResolvedAddress {
  readonly address: string;
  /** 4 or 6. */
  readonly family: number;
}

/** Returns all addresses of a host. Rejects with a DNS error code without one. */
export type ResolveHost = (host: string) => Promise<readonly ResolvedAddress[]>;

/** Resolves like other programs on this machine: includes names that only the hosts file has. */
export const resolveWithSystem: ResolveHost = async (host) => await lookup(host, { all: true });

interface DnsResolverOptions {
  /** Default: the name servers of the system. */
  readonly servers?: readonly string[];
  /** Timeout of the first query. The second and last query has twice as long. */
  readonly timeoutMs?: number;
}

/**
 * Creates a resolver that queries the name servers directly. `dns.lookup` blocks one of libuv's few threads, so a
 * handful of unresponsive names would delay the webhooks of all apps.
 * @see https://nodejs.org/api/dns.html#implementation-considerations
 */
export function createDnsResolver({ servers, timeoutMs = 2 * secondMs }: DnsResolverOptions = {}): ResolveHost {
  return async (host) => {
    // A new resolver per host: a used one shortens the timeout to the response times that it has measured.
    const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
    if (servers) resolver.setServers(servers);
    const results = await Promise.allSettled([
      resolver.resolve4(host).then((addresses) => addresses.map((address) => ({ address, family: 4 }))),
      resolver.resolve6(host).then((addresses) => addresses.map((address) => ({ address, family: 6 }))),
    ]);
    const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    if (addresses.length === 0) throw selectDnsError(results);
    return addresses;
  };
}

/** `ENODATA` of one address family is less informative than a failed query for the other family. */
function selectDnsError(results: readonly PromiseSettledResult<unknown>[]): unknown {
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  return errors.find(({ code }) => code !== 'ENODATA') ?? errors[0];
}
