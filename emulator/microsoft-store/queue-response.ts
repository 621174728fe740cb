import type { HttpResponse } from '../http-messages.ts';

/** Creates an XML response of the storage account. */
export const xmlResponse = (status: number, document: string, headers: HttpResponse['headers'] = {}): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/xml', 'x-ms-version': '2019-07-07', ...headers },
  body: `<?xml version="1.0" encoding="utf-8"?>${document}`,
});

/** Creates an error response of the storage account. */
export const queueErrorResponse = (status: number, code: string, message: string): HttpResponse =>
  xmlResponse(status, `<Error><Code>${code}</Code><Message>${message}</Message></Error>`, { 'x-ms-error-code': code });
