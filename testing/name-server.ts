import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The addresses of a name, an NXDOMAIN response, or no response. */
type DnsResponse = readonly string[] | 'no such name' | 'nothing';

export interface NameServer {
  /** `host:port`, as `dns.Resolver` accepts it. */
  readonly address: string;
  close(): Promise<void>;
}

const recordTypes = { A: 1, AAAA: 28 } as const;
const headerBytes = 12;

/**
 * Starts a DNS server for the given names. It responds to all other names with NXDOMAIN.
 * @see https://datatracker.ietf.org/doc/html/rfc1035#section-4
 */
export async function startNameServer(names: Readonly<Record<string, DnsResponse>>): Promise<NameServer> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { address, port }) => {
    const response = names[parseName(query)] ?? 'no such name';
    if (response !== 'nothing') socket.send(encodeResponse(query, response), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    close: async () => await new Promise((resolve) => socket.close(() => resolve())),
  };
}

function parseName(query: Buffer): string {
  const labels: string[] = [];
  for (let position = headerBytes; query[position]; position += 1 + (query[position] ?? 0)) {
    labels.push(query.toString('latin1', position + 1, position + 1 + (query[position] ?? 0)));
  }
  return labels.join('.').toLowerCase();
}

function encodeResponse(query: Buffer, response: Exclude<DnsResponse, 'nothing'>): Buffer {
  const end = query.indexOf(0, headerBytes) + 5;
  const recordType = query.readUInt16BE(end - 4);
  const addresses = response === 'no such name' ? [] : response;
  const matching = addresses.filter((address) => (isIPv6(address) ? recordTypes.AAAA : recordTypes.A) === recordType);
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(response === 'no such name' ? 0x8183 : 0x8180, 2);
  head.writeUInt16BE(matching.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...matching.map((address) => encodeRecord(recordType, address))]);
}

/** Encodes a resource record for the name of the query, with a TTL of 0. */
function encodeRecord(recordType: number, address: string): Buffer {
  const data = Buffer.from(ipaddr.parse(address).toByteArray());
  const head = Buffer.from([0xc0, headerBytes, 0, recordType, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return Buffer.concat([head, data]);
}
