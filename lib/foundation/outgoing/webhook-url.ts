import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ServiceError } from '../errors.ts';

const maxUrlLength = 2_000;

/** Common HTTPS ports. Excludes the ports of databases, caches and shells. */
const allowedPorts = new Set(['', '443', '8443']);

/** Returns the host for name resolution: an IPv6 address without brackets. */
export const getHost = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

/**
 * Parses a webhook URL. Throws `InvalidPayload` if it is not https, contains credentials, or has another port than 443
 * or 8443 or a non-public address. With `allowsLoopback`, http, loopback addresses and all ports are allowed.
 */
export function parseWebhookUrl(text: string, policy: AddressPolicy): URL {
  const url = URL.canParse(text) && text.length <= maxUrlLength ? new URL(text) : rejectUrl('is not a URL');
  if (url.username || url.password) rejectUrl('contains credentials');
  if (url.protocol !== 'https:' && !(policy.allowsLoopback && url.protocol === 'http:'))
    rejectUrl('does not start with https');
  if (!allowedPorts.has(url.port) && !policy.allowsLoopback) rejectUrl('has a port other than 443 and 8443');
  const host = getHost(url);
  if (isIP(host) && !isPublicAddress(host, policy)) rejectUrl('has an address that is not public');
  return url;
}

function rejectUrl(problem: string): never {
  throw new ServiceError('InvalidPayload', `The webhook URL ${problem}.`);
}

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
