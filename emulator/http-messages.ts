import type { IncomingHttpHeaders } from 'node:http';

/** A call of a store's API, or of the control API, as it arrived. */
export interface HttpRequest {
  readonly method: string;
  /** Still encoded; for a store without the host in front. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A call of a store's API with the real host name that it was meant for. */
export interface StoreHttpRequest extends HttpRequest {
  readonly host: string;
}

/** What goes back over HTTP. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The connection breaks in the middle of the body. */
  readonly isTruncated?: boolean;
}

/** An answer in JSON. */
export const jsonResponse = (status: number, value: unknown, headers: HttpResponse['headers'] = {}): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
});

/** An answer in plain text. */
export const textResponse = (status: number, body: string): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
});
