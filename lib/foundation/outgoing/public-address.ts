import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface AddressPolicy {
  /** True only in the local runtime: the app's server runs on the same machine. */
  readonly allowsLoopback: boolean;
}

/**
 * Rejects private, link-local (instance metadata), carrier-grade NAT and documentation ranges, and IPv6 addresses that
 * embed an IPv4 address, because the embedded address can be private.
 */
export function isPublicAddress(address: string, { allowsLoopback }: AddressPolicy): boolean {
  if (isIP(address) === 0 || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (range === 'loopback') return allowsLoopback;
  if (range !== 'unicast') return false;
  // Only 2000::/3 is assigned to global unicast. `::7f00:1`, an IPv4-compatible address, is outside of it.
  return !(parsed instanceof ipaddr.IPv6) || (parsed.parts[0] ?? 0) >> 13 === 1;
}
