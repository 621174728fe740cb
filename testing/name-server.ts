import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** What a name server says of a name: its addresses, that there is no such name, or nothing at all. */
type DnsAnswer = readonly string[] | 'no such name' | 'nothing';

/** A name server that says what a test wants. */
export interface NameServer {
  /** As a resolver takes it. */
  readonly address: string;
  close(): Promise<void>;
}

const types = { A: 1, AAAA: 28 } as const;
const headerBytes = 12;

/** Starts a name server of these names; there are no others. */
export async function startNameServer(names: Readonly<Record<string, DnsAnswer>>): Promise<NameServer> {
  const socket = createSocket('udp4');
  socket.on('message', (question, { address, port }) => {
    const said = names[nameIn(question)] ?? 'no such name';
    if (said !== 'nothing') socket.send(buildAnswer(question, said), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    close: async () => await new Promise((resolve) => socket.close(() => resolve())),
  };
}

function nameIn(question: Buffer): string {
  const labels: string[] = [];
  for (let at = headerBytes; question[at]; at += 1 + (question[at] ?? 0)) {
    labels.push(question.toString('latin1', at + 1, at + 1 + (question[at] ?? 0)));
  }
  return labels.join('.').toLowerCase();
}

function buildAnswer(question: Buffer, said: Exclude<DnsAnswer, 'nothing'>): Buffer {
  const end = question.indexOf(0, headerBytes) + 5;
  const type = question.readUInt16BE(end - 4);
  const addresses = said === 'no such name' ? [] : said;
  const wanted = addresses.filter((address) => (isIPv6(address) ? types.AAAA : types.A) === type);
  const asked = Buffer.from(question.subarray(0, end));
  asked.writeUInt16BE(said === 'no such name' ? 0x8183 : 0x8180, 2);
  asked.writeUInt16BE(wanted.length, 6);
  asked.writeUInt32BE(0, 8);
  return Buffer.concat([asked, ...wanted.map((address) => record(type, address))]);
}

/** For the name of the question, and to be kept for no time. */
function record(type: number, address: string): Buffer {
  const data = Buffer.from(ipaddr.parse(address).toByteArray());
  const head = Buffer.from([0xc0, headerBytes, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return Buffer.concat([head, data]);
}
