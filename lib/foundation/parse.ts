import * as v from 'valibot';
import { type ErrorCode, ServiceError } from './errors.ts';
import type { Key } from './key.ts';

/**
 * Validates a value. Throws `ServiceError` with `code` and a message that names the first invalid field. The message
 * never contains the value, which can be a receipt or a key. With `DatabaseError`, the cause names the item.
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
  const problem =
    issue.received === 'undefined'
      ? `${path} is missing.`
      : `${path}: expected ${describeExpectation(findCause(issue))}.`;
  const cause = code === 'DatabaseError' ? describeItem(value) : undefined;
  throw new ServiceError(code, problem, { isPermanent: true, cause });
}

/** Names the keys of a stored item, without those parts of keys that are usernames or can contain one. */
function describeItem(value: unknown): string | undefined {
  const { pk, sk }: Partial<Key> = Object(value);
  return pk && `Item: ${pk.replace(/(#[CGUV]#).*/s, '$1*')} ${sk?.replace(/^C#.*/s, 'C#*')}`;
}

/** Matches valibot's built-in messages, which contain the value. */
const builtInMessagePattern = /^Invalid [\w\s-]+: (?:Expected|Received) /;

/**
 * Returns the unmet rule of the alternative whose type the value has, if there is one. A message of all alternatives
 * takes precedence.
 */
function findCause(issue: v.BaseIssue<unknown>): v.BaseIssue<unknown> {
  if (!builtInMessagePattern.test(issue.message)) return issue;
  return issue.issues?.find(({ kind, path }) => kind === 'validation' && path === undefined) ?? issue;
}

const typeNames: Readonly<Record<string, string>> = {
  Object: 'an object',
  Array: 'an array',
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
};
const boundPhrases: Readonly<Record<string, string>> = {
  min_value: 'at least',
  max_value: 'at most',
  min_length: 'a length of at least',
  max_length: 'a length of at most',
};

/** Returns the message of the schema, otherwise its bound or type; never a regular expression. */
function describeExpectation({ message, expected, requirement, type }: v.BaseIssue<unknown>): string {
  if (!builtInMessagePattern.test(message)) return message;
  if (!expected || requirement instanceof RegExp) return 'another format';
  const bound = boundPhrases[type];
  if (bound) return `${bound} ${requirement}`;
  const choices = expected.replaceAll(/[()]/g, '').split(' | ');
  return choices.map((choice) => typeNames[choice] ?? choice).join(' or ');
}

/** Parses and validates a JSON text. Throws like `parse` if it is not JSON. */
export function parseJson<S extends v.GenericSchema>(
  schema: S,
  text: string,
  code: ErrorCode = 'InvalidPayload',
): v.InferOutput<S> {
  return parse(schema, parseJsonText(text, code), code);
}

function parseJsonText(text: string, code: ErrorCode): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The message of the JavaScript engine is omitted, because it quotes the content, which can be a receipt.
    throw new ServiceError(code, 'The content is not valid JSON.');
  }
}
