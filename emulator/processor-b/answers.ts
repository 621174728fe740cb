import type { Answer } from '../http-messages.ts';
import { type Value, xmlDocument } from './xml.ts';

/** An answer in XML. */
export const xml = (status: number, name: string, value: Value): Answer => ({
  status,
  headers: { 'content-type': 'application/xml; charset=utf-8' },
  body: xmlDocument(name, value),
});

/** An answer without content, as the gateway gives to what it does not know or allow. */
export const bare = (status: number): Answer => ({ status, headers: { 'content-type': 'application/xml' }, body: ' ' });

interface Problem {
  readonly code: string;
  readonly attribute: string;
  readonly message: string;
}

/** A refusal because of the parameters. */
export const invalid = (object: string, problem: Problem): Answer =>
  xml(422, 'api-error-response', {
    errors: { errors: [], [object]: { errors: [{ ...problem }] } },
    message: problem.message,
  });

/** A refusal of a payment, which the gateway keeps. */
export const declined = (message: string, transaction: Value): Answer =>
  xml(422, 'api-error-response', { errors: { errors: [] }, message, transaction });
