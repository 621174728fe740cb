import { type HttpServer, startHttpServer } from '../local/http-server.ts';

/**
 * Starts a server instead of every store. It grants every OAuth token request. It rejects everything else with an
 * error that repeats the request (URL, body, credentials), as real stores sometimes do.
 */
export const startEchoingStore = async (): Promise<HttpServer> =>
  await startHttpServer(async (request, response) => {
    const { url = '', method } = request;
    const body = Buffer.concat(await request.toArray()).toString('utf8');
    const isTokenRequest = /token$/.test(new URL(url, 'http://store').pathname) && method === 'POST';
    const message = `Refused: ${url} ${decodeURIComponent(url)} ${body} ${request.headers.authorization}`;
    const token = { access_token: 'CANARY-of-the-store', token_type: 'Bearer', expires_in: 3600 };
    const error = { error: { code: 400, message, type: 'invalid_request_error' }, message };
    response.writeHead(isTokenRequest ? 200 : 400, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isTokenRequest ? token : error));
  });
