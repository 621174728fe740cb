import type { HttpResponse } from '../http-messages.ts';
import { toXmlDocument, type XmlValue } from './xml.ts';

/** Creates an XML response. */
export const xmlResponse = (status: number, name: string, value: XmlValue): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/xml; charset=utf-8' },
  body: toXmlDocument(name, value),
});

/** Creates a response without content, as Braintree returns for unknown ids and unauthorized requests. */
export const emptyResponse = (status: number): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: ' ',
});

interface ValidationProblem {
  readonly code: string;
  readonly attribute: string;
  readonly message: string;
}

/** Creates the response for invalid parameters. */
export const validationErrorResponse = (object: string, problem: ValidationProblem): HttpResponse =>
  xmlResponse(422, 'api-error-response', {
    errors: { errors: [], [object]: { errors: [{ ...problem }] } },
    message: problem.message,
  });

/** Creates the response for a declined payment, which contains the stored transaction. */
export const declinedResponse = (message: string, transaction: XmlValue): HttpResponse =>
  xmlResponse(422, 'api-error-response', { errors: { errors: [] }, message, transaction });
