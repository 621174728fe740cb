import { isIP } from 'node:net';
import { ServiceError } from '../errors.ts';
import { type AddressRule, isPublicAddress } from './public-address.ts';

const longest = 2_000;
/** Ports on which servers of applications listen, and no database or shell. */
const ports = new Set(['', '443', '8443']);

/** The host of a URL as a resolver takes it: an IPv6 address without its brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

/**
 * The URL of an application's server. Throws `InvalidPayload` for one that webhooks must not go to: not https, with
 * credentials, on an odd port, or at an address that is not public. On one machine http and loopback are allowed.
 */
export function webhookUrl(text: string, rule: AddressRule): URL {
  const url = URL.canParse(text) && text.length <= longest ? new URL(text) : refuse('is not a URL');
  if (url.username || url.password) refuse('carries credentials');
  if (url.protocol !== 'https:' && !(rule.allowsLoopback && url.protocol === 'http:'))
    refuse('does not start with https');
  if (!ports.has(url.port) && !rule.allowsLoopback) refuse('has a port other than 443 and 8443');
  const host = hostOf(url);
  if (isIP(host) && !isPublicAddress(host, rule)) refuse('has an address that is not public');
  return url;
}

function refuse(why: string): never {
  throw new ServiceError('InvalidPayload', `The webhook URL ${why}.`);
}
