import type { IncomingHttpHeaders } from 'node:http';

/** Call of a store's API or of the control API. */
export interface HttpRequest {
  readonly method: string;
  /** Percent-encoded path. For a store it does not include the host. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Call of a store's API with the host name of the real store. */
export interface StoreHttpRequest extends HttpRequest {
  readonly host: string;
}

/** HTTP response of a store or of the control API. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Closes the connection after half of the body. */
  readonly isTruncated?: boolean;
}

/** Creates a JSON response. */
export const jsonResponse = (status: number, value: unknown, headers: HttpResponse['headers'] = {}): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
});

/** Creates a plain text response. */
export const textResponse = (status: number, body: string): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
});

/** Response 204 without a body. */
export const noContentResponse: HttpResponse = { status: 204, headers: {}, body: '' };
