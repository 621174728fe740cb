import { type HttpServer, startHttpServer } from '../local/http-server.ts';

/** Sends each request on to several URLs, such as the push subscriptions of one Pub/Sub topic. */
export interface RequestRelay extends HttpServer {
  /** Sets the URLs of all later requests. */
  relayTo(urls: readonly string[]): void;
}

/** Starts a relay. It responds with status 200 if all URLs accept the request, or else with the first other status. */
export async function startRequestRelay(): Promise<RequestRelay> {
  let urls: readonly string[] = [];
  const server = await startHttpServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const headers = pickHeaders(request.headers);
    const statuses = await Promise.all(urls.map(async (url) => await post(url, headers, body)));
    response.writeHead(statuses.find((status) => status >= 300) ?? 200).end();
  });
  return {
    ...server,
    relayTo(next) {
      urls = next;
    },
  };
}

const pickHeaders = ({ authorization, 'content-type': contentType = '' }: NodeJS.Dict<string | string[]>) => ({
  'content-type': String(contentType),
  ...(authorization !== undefined && { authorization: String(authorization) }),
});

/** Posts a body unchanged, and returns the status. */
export async function post(url: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<number> {
  const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
  await response.arrayBuffer();
  return response.status;
}
