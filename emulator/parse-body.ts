import * as v from 'valibot';
import { controlError } from './control-error.ts';
import type { HttpRequest } from './http-messages.ts';

/** Parses the JSON body of a control API call; an empty body is `{}`. Throws 400 if it does not match the schema. */
export function parseBody<S extends v.GenericSchema>(schema: S, { body }: HttpRequest): v.InferOutput<S> {
  const result = v.safeParse(schema, body.length === 0 ? {} : parseJson(body));
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw controlError(400, `${v.getDotPath(issue) ?? 'body'}: ${issue.message}.`);
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw controlError(400, 'body: expected JSON.');
  }
}
