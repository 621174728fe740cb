import * as v from 'valibot';
import type { Call } from './http-messages.ts';
import { refusal } from './refusal.ts';

/** The JSON body of a control call as the schema's type; no body is an empty object. */
export function parsedBody<S extends v.GenericSchema>(schema: S, { body }: Call): v.InferOutput<S> {
  const result = v.safeParse(schema, body.length === 0 ? {} : jsonOf(body));
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw refusal(400, `${v.getDotPath(issue) ?? 'body'}: ${issue.message}.`);
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw refusal(400, 'body: expected JSON.');
  }
}
