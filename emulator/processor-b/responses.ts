import type { HttpResponse } from '../http-messages.ts';
import { toXmlDocument, type XmlValue } from './xml.ts';

/** An answer in XML. */
export const xmlResponse = (status: number, name: string, value: XmlValue): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/xml; charset=utf-8' },
  body: toXmlDocument(name, value),
});

/** An answer without content, as the gateway gives to what it does not know or allow. */
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

/** A refusal because of the parameters. */
export const validationErrorResponse = (object: string, problem: ValidationProblem): HttpResponse =>
  xmlResponse(422, 'api-error-response', {
    errors: { errors: [], [object]: { errors: [{ ...problem }] } },
    message: problem.message,
  });

/** A refusal of a payment, which the gateway keeps. */
export const declinedResponse = (message: string, transaction: XmlValue): HttpResponse =>
  xmlResponse(422, 'api-error-response', { errors: { errors: [] }, message, transaction });
