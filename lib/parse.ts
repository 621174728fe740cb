import * as v from 'valibot';
import { type ErrorCode, ServiceError } from './errors.ts';

/**
 * The value as the schema's type. Throws `ServiceError` with `code` and a message that names the first wrong field;
 * the message never repeats the value, which may be a receipt or a key.
 */
export function parse<S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  code: ErrorCode = 'InvalidPayload',
): v.InferOutput<S> {
  const result = v.safeParse(schema, value, { abortPipeEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const path = v.getDotPath(issue) ?? 'the content';
  if (issue.received === 'undefined') throw new ServiceError(code, `${path} is missing.`);
  throw new ServiceError(code, `${path}: expected ${issue.expected ?? issue.message}.`);
}

/** The JSON text as the schema's type; what is not JSON fails like a wrong value. */
export function parseJson<S extends v.GenericSchema>(
  schema: S,
  text: string,
  code: ErrorCode = 'InvalidPayload',
): v.InferOutput<S> {
  return parse(schema, jsonOf(text, code), code);
}

function jsonOf(text: string, code: ErrorCode): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The engine's own message quotes the content, which may be a receipt.
    throw new ServiceError(code, 'The content is not valid JSON.');
  }
}
