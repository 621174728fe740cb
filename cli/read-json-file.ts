import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { ServiceError } from '../lib/foundation/errors.ts';
import { parseJson } from '../lib/foundation/parse.ts';
import { describeFileError } from './describe-file-error.ts';
import { locateJsonError } from './locate-json-error.ts';
import { createDecoder, detectEncoding, findUndecodableLine } from './text-encoding.ts';

const JsonObject = v.record(v.string(), v.unknown());

/**
 * Reads a JSON object from a file, or from standard input for `-`: UTF-8, or UTF-16 with a byte order mark. Throws
 * `InvalidPayload` with the name of the file and the position of the problem.
 */
export function readJsonFile(file: string): Readonly<Record<string, unknown>> {
  const name = file === '-' ? 'Standard input' : file;
  const bytes = readBytes(file, name);
  if (bytes.length === 0) throw new ServiceError('InvalidPayload', `${name} is empty.`);
  const text = decode(bytes, name);
  const position = locateJsonError(text);
  if (position)
    throw new ServiceError(
      'InvalidPayload',
      `${name} is not valid JSON: line ${position.line}, column ${position.column}.`,
    );
  const content: unknown = JSON.parse(text);
  if (Array.isArray(content) || !v.is(JsonObject, content))
    throw new ServiceError('InvalidPayload', `${name}: expected a JSON object.`);
  return content;
}

function readBytes(file: string, name: string): Buffer {
  try {
    return readFileSync(file === '-' ? 0 : file);
  } catch (cause) {
    throw new ServiceError('InvalidPayload', `${name} ${describeFileError(cause)}.`);
  }
}

function decode(bytes: Buffer, name: string): string {
  const encoding = detectEncoding(bytes);
  try {
    return createDecoder(encoding).decode(bytes);
  } catch {
    const place = encoding === 'utf-8' ? ` in line ${findUndecodableLine(bytes)}` : '';
    throw new ServiceError('InvalidPayload', `${name} is not ${encoding.toUpperCase()}${place}. Save it as UTF-8.`);
  }
}

/** Parses the text of a file with a schema. Throws `InvalidPayload` with the name of the file. */
export function parseFileText<S extends v.GenericSchema>(schema: S, text: string, file: string): v.InferOutput<S> {
  try {
    return parseJson(schema, text);
  } catch (error) {
    throw new ServiceError('InvalidPayload', `${file}: ${ServiceError.fromUnknown(error).message}`);
  }
}
