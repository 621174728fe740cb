import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface AddressPolicy {
  /** On one machine the application's server is next door; in a deployment nothing is. */
  readonly allowsLoopback: boolean;
}

/**
 * Whether a webhook may go to an address: a public one only. Not to private and local networks, to the metadata service,
 * to carriers' and documentation networks, nor to forms of IPv6 that carry an address of IPv4 and could hide one of those.
 */
export function isPublicAddress(address: string, { allowsLoopback }: AddressPolicy): boolean {
  if (isIP(address) === 0 || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (range === 'loopback') return allowsLoopback;
  if (range !== 'unicast') return false;
  // Of IPv6 only the global unicast addresses are assigned; `::7f00:1` is an old form of an IPv4 address.
  return !(parsed instanceof ipaddr.IPv6) || (parsed.parts[0] ?? 0) >> 13 === 1;
}
