import { lookup, Resolver } from 'node:dns/promises';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name; rejects with a code when there are none. */
export type ResolveHost = (host: string) => Promise<readonly ResolvedAddress[]>;

/** Resolves names as the programs of this machine do: also those that no name server knows. */
export const resolveWithSystem: ResolveHost = async (host) => await lookup(host, { all: true });

interface DnsResolverOptions {
  /** Instead of the system's. */
  readonly servers?: readonly string[];
  /** Of the first question; the second, and last, is given twice as long. */
  readonly timeoutMs?: number;
}

/**
 * Asks the name servers, and nothing of this machine. The system's way takes one of few threads for as long as a name is
 * looked for: a handful of names that nobody answers for would keep the webhooks of everybody else waiting.
 */
export function createDnsResolver({ servers, timeoutMs = 2_000 }: DnsResolverOptions = {}): ResolveHost {
  return async (host) => {
    // One that has asked before gives slow name servers less time, going by the answers of fast ones.
    const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
    if (servers) resolver.setServers(servers);
    const responses = await Promise.allSettled([
      resolver.resolve4(host).then((found) => found.map((address) => ({ address, family: 4 }))),
      resolver.resolve6(host).then((found) => found.map((address) => ({ address, family: 6 }))),
    ]);
    const addresses = responses.flatMap((response) => (response.status === 'fulfilled' ? response.value : []));
    if (addresses.length === 0) throw selectDnsError(responses);
    return addresses;
  };
}

/** That a name has no address of one family says nothing where the other could not be asked for. */
function selectDnsError(responses: readonly PromiseSettledResult<unknown>[]): unknown {
  const reasons = responses.flatMap((response) => (response.status === 'rejected' ? [response.reason] : []));
  return reasons.find(({ code }) => code !== 'ENODATA') ?? reasons[0];
}
