import type { HttpRequest, HttpResponse } from './http-messages.ts';

/** Pages of this machine only, such as the console of the local service. */
const localOrigin = /^http:\/\/(?:127\.0\.0\.1|localhost)(?::\d+)?$/;

/** Response to the preflight request of a browser. */
export const preflightResponse: HttpResponse = {
  status: 204,
  headers: {
    'access-control-allow-methods': 'GET, POST, PUT, DELETE',
    'access-control-allow-headers': 'content-type',
    'access-control-max-age': '86400',
  },
  body: '',
};

/** Allows a page of this machine to read a response of the control API. */
export function allowLocalOrigin(response: HttpResponse, { headers: { origin } }: HttpRequest): HttpResponse {
  if (origin === undefined || !localOrigin.test(origin)) return response;
  return { ...response, headers: { ...response.headers, 'access-control-allow-origin': origin, vary: 'origin' } };
}
