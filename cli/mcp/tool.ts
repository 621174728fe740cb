import * as v from 'valibot';
import type { ApiReader } from './api-reader.ts';

type ObjectSchema = v.ObjectSchema<v.ObjectEntries, undefined> | v.StrictObjectSchema<v.ObjectEntries, undefined>;

/** A tool that reads. Its name, descriptions and schemas are constants: they never contain text of a customer. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: ObjectSchema;
  readonly output: ObjectSchema;
  read(input: unknown, api: ApiReader): Promise<unknown>;
}

/** Defines a tool with the types of its schemas. */
export const defineTool = <I extends ObjectSchema, O extends ObjectSchema>(
  definition: Omit<Tool, 'input' | 'output' | 'read'> & {
    readonly input: I;
    readonly output: O;
    read(input: v.InferOutput<I>, api: ApiReader): Promise<v.InferInput<O>>;
  },
): Tool => ({
  ...definition,
  read: async (input, api) => await definition.read(v.parse(definition.input, input), api),
});

/** Maximum of the rows of a result. */
export const maxRows = 50;

/** Number of rows that a result omits because of the maximum. */
export const OmittedRows = v.exactOptional(v.number());

/** Returns the first rows up to a maximum, and the number of the others if there are any. */
export function limitRows<T>(rows: readonly T[], max = maxRows) {
  const omittedRows = rows.length - max;
  return { rows: rows.slice(0, max), ...(omittedRows > 0 && { omittedRows }) };
}

/** Cursor of the next page. */
export const Cursor = v.pipe(v.string(), v.maxLength(4_000), v.regex(/^[\w-]+$/));
export const NextCursor = v.exactOptional(Cursor);

/** A day such as `2026-01-31`. */
export const Day = v.pipe(v.string(), v.isoDate());
