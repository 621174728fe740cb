import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { centralBankAnswer, centralBankHost } from './central-bank/central-bank.ts';
import { controlAnswer } from './control.ts';
import { catchUp, type Emulator } from './emulator.ts';
import { faultyAnswer } from './faults.ts';
import { type Answer, type Call, json } from './http-messages.ts';
import { isRefusal, refusal } from './refusal.ts';

const longestBody = 8_000_000;

/** The one HTTP server of the emulator: `/control…` for its user, `/<host>/<path>` for the stores. */
export function emulatorServer(emulator: Emulator, changed: () => void): Server {
  return createServer(async (request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    try {
      const call = await callOf(request);
      if (catchUp(emulator) || call.method !== 'GET') changed();
      send(response, await answerTo(emulator, call, gone.signal));
    } catch (thrown) {
      if (!gone.signal.aborted) send(response, problem(thrown));
    }
  });
}

async function answerTo(emulator: Emulator, call: Call, signal: AbortSignal): Promise<Answer> {
  if (call.path === '/control' || call.path.startsWith('/control/')) return json(200, controlAnswer(emulator, call));
  const [, host = '', ...rest] = call.path.split('/');
  const storeCall = { ...call, host, path: `/${rest.join('/')}` };
  if (host === centralBankHost) return centralBankAnswer(storeCall, emulator.clock.now());
  const there = emulator.stores.filter(({ hosts }) => hosts.includes(host));
  const store = there.find(({ isMeant }) => isMeant?.(storeCall)) ?? there[0];
  if (store === undefined) throw refusal(404, `No store has the host ${host}.`);
  const answer = (): Answer => store.answer(storeCall);
  return await faultyAnswer(emulator.faults.take(store.platform), store, { answer, signal });
}

async function callOf(request: IncomingMessage): Promise<Call> {
  const { pathname, searchParams } = new URL(`http://emulator${request.url}`);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > longestBody) throw refusal(413, `The body is longer than ${longestBody} bytes.`);
    chunks.push(chunk);
  }
  return {
    method: request.method ?? 'GET',
    path: pathname,
    query: searchParams,
    headers: request.headers,
    body: Buffer.concat(chunks),
  };
}

function send(response: ServerResponse, { status, headers, body, cut = false }: Answer): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, 'content-length': bytes.length });
  if (!cut) {
    response.end(bytes);
    return;
  }
  response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => response.destroy());
}

function problem(thrown: unknown): Answer {
  if (isRefusal(thrown)) return json(thrown.status, { status: thrown.status, message: thrown.message });
  const message = thrown instanceof URIError ? 'The path is not well encoded.' : `The emulator failed: ${thrown}`;
  const status = thrown instanceof URIError ? 400 : 500;
  return json(status, { status, message });
}
