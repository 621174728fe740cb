import { isIP } from 'node:net';
import { ServiceError } from '../shared/errors.ts';
import { type AddressPolicy, isPublicAddress } from './public-address.ts';

const maxUrlLength = 2_000;
/** Ports on which servers of applications listen, and no database or shell. */
const allowedPorts = new Set(['', '443', '8443']);

/** The host of a URL as a resolver takes it: an IPv6 address without its brackets. */
export const getHost = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

/**
 * The URL of an application's server. Throws `InvalidPayload` for one that webhooks must not go to: not https, with
 * credentials, on an odd port, or at an address that is not public. On one machine http and loopback are allowed.
 */
export function parseWebhookUrl(text: string, rule: AddressPolicy): URL {
  const url = URL.canParse(text) && text.length <= maxUrlLength ? new URL(text) : rejectUrl('is not a URL');
  if (url.username || url.password) rejectUrl('carries credentials');
  if (url.protocol !== 'https:' && !(rule.allowsLoopback && url.protocol === 'http:'))
    rejectUrl('does not start with https');
  if (!allowedPorts.has(url.port) && !rule.allowsLoopback) rejectUrl('has a port other than 443 and 8443');
  const host = getHost(url);
  if (isIP(host) && !isPublicAddress(host, rule)) rejectUrl('has an address that is not public');
  return url;
}

function rejectUrl(why: string): never {
  throw new ServiceError('InvalidPayload', `The webhook URL ${why}.`);
}
