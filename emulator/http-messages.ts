import type { IncomingHttpHeaders } from 'node:http';

/** A call of a store's API, or of the control API, as it arrived. */
export interface Call {
  readonly method: string;
  /** Still encoded; for a store without the host in front. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A call of a store's API with the real host name that it was meant for. */
export interface StoreCall extends Call {
  readonly host: string;
}

/** What goes back over HTTP. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The connection breaks in the middle of the body. */
  readonly cut?: boolean;
}

/** An answer in JSON. */
export const json = (status: number, value: unknown, headers: Answer['headers'] = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
});

/** An answer in plain text. */
export const text = (status: number, body: string): Answer => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
});
