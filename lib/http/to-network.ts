import { isIP } from 'node:net';

/**
 * Returns an IPv4 address unchanged, and the /64 network of an IPv6 address, because one client has all of its
 * addresses. `sourceIp` is the address of the TCP connection, and clients can forge `X-Forwarded-For`.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
 */
export async function toNetwork(sourceIp: string): Promise<string | undefined> {
  if (isIP(sourceIp) !== 6) return isIP(sourceIp) === 4 ? sourceIp : undefined;
  const { default: ipaddr } = await import('ipaddr.js');
  const address = ipaddr.process(sourceIp);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const groups = address.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}
