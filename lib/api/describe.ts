import type * as v from 'valibot';
import type { Contract } from './contract.ts';

/**
 * Description of a field or parameter with an example. The example is omitted if the schema has its own description,
 * which has examples. Numbers are integers unless they are `decimal`.
 */
export type FieldDescription<T = unknown> = readonly [description: string, example?: T, number?: 'decimal'];

type ObjectSchema = v.GenericSchema & { readonly entries: v.ObjectEntries };

/** Examples are constants, so their lists are readonly. */
type Example<T> = T extends readonly (infer Element)[] ? readonly Element[] : T;

/** Each entry of an object schema must have a description. The example must have the type of the entry. */
type FieldDescriptions<E extends v.ObjectEntries> = {
  readonly [K in keyof E]: FieldDescription<Example<NonNullable<v.InferInput<E[K]>>>>;
};

/** Each parameter must have a description. The example has the type that clients use, for example a number. */
type ParameterDescriptions<S> = S extends ObjectSchema
  ? { readonly [K in keyof S['entries']]: FieldDescription<string | number | boolean> }
  : undefined;

/** A named schema of the API document. */
export interface SchemaDescription {
  readonly name: string;
  readonly schema: v.GenericSchema;
  readonly description: string;
  /** Descriptions of the fields of an object. */
  readonly fields?: Readonly<Record<string, FieldDescription>>;
  /** Example of a schema without fields. */
  readonly example?: unknown;
  /** Keywords of a format: it is repeated at each field instead of being a component. */
  readonly format?: Readonly<Record<string, unknown>>;
}

/** An operation of the API document. */
export interface OperationDescription {
  readonly contract: Contract;
  readonly description: string;
  readonly params?: Readonly<Record<string, FieldDescription>> | undefined;
  readonly query?: Readonly<Record<string, FieldDescription>> | undefined;
  /** Documented body, if the contract reads fewer fields or accepts requests of existing clients, too. */
  readonly body?: v.GenericSchema;
  /** Examples of the body by name. */
  readonly bodyExamples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
  /** Causes of errors that only this operation has, by status. */
  readonly errors?: Readonly<Partial<Record<404 | 409, readonly string[]>>>;
  readonly isDeprecated?: true;
}

/** The part of the API that a feature has: its endpoints, and the schemas that their bodies refer to. */
export interface ApiPart {
  readonly operations: readonly OperationDescription[];
  readonly descriptions: readonly SchemaDescription[];
}

/** Describes an object schema with all of its fields. */
/* @__NO_SIDE_EFFECTS__ */
export const describeObject = <const S extends ObjectSchema>(
  name: string,
  schema: S,
  description: string,
  fields: FieldDescriptions<S['entries']>,
): SchemaDescription => ({ name, schema, description, fields });

/** Describes a schema without fields: an enumeration, a union or a map. */
/* @__NO_SIDE_EFFECTS__ */
export const describeValue = <const S extends v.GenericSchema>(
  name: string,
  schema: S,
  description: string,
  example?: v.InferInput<S>,
): SchemaDescription => ({ name, schema, description, ...(example !== undefined && { example }) });

/** Describes a text format. */
/* @__NO_SIDE_EFFECTS__ */
export const describeFormat = (
  schema: v.GenericSchema,
  example: string,
  format: SchemaDescription['format'] & object,
): SchemaDescription => ({ name: '', schema, description: '', example, format });

type Described<C extends Contract> = Pick<
  OperationDescription,
  'description' | 'body' | 'bodyExamples' | 'errors' | 'isDeprecated'
> &
  (C extends { readonly params: infer S } ? { readonly params: ParameterDescriptions<S> } : object) &
  (C extends { readonly query: infer S } ? { readonly query: ParameterDescriptions<S> } : object);

/** Describes an operation with all of its parameters. */
/* @__NO_SIDE_EFFECTS__ */
export const describeOperation = <const C extends Contract>(
  contract: C,
  described: Described<C>,
): OperationDescription => ({
  contract,
  ...described,
});

/** Descriptions of parameters that several operations have. */

export const applicationUsername = ["The customer's username in your app, 1 to 900 bytes of UTF-8.", 'alice'] as const;

export const purchaseId = [
  'Purchase id with its platform prefix. Brand prefixes such as `apple:` are accepted, too.',
  'store_a:2000000123456789',
] as const;

export const pagingParameters = {
  limit: ['Maximum number of rows. A value above 1,000 is reduced to 1,000. The default is 100.', 100],
  skip: ['Number of rows to skip. The default is 0.', 0],
  offset: ['The same as `skip`, which takes precedence.', 0],
} as const;

export const transactionPagingParameters = {
  ...pagingParameters,
  limit: ['Maximum number of transactions. A value above 1,000 is reduced to 1,000. The default is 500.', 500],
} as const;

export const cursorParameters = {
  limit: ['Maximum number of rows.', 50],
  cursor: ['The `nextCursor` of the previous page. Absent for the first page.', 'MTc2NzI2ODgwMDAwMCMwMUtEWFo4'],
} as const;

/** Parameters of a list that is read by position, or by cursor in either order. */
export const orderParameters = {
  order: ['`newest` reads the list by cursor from its end. The default is `oldest`.', 'newest'],
  cursor: cursorParameters.cursor,
} as const;

/** Sentence of an operation whose filters read a list by cursor. */
export const filterNote =
  'With a filter, `order` or `cursor`, the list is read by cursor, `skip` is ignored, and `paging.total` is the number of ' +
  'returned rows. One request reads about 1,000 rows at most, so a page can have few rows or none and still have a ' +
  '`nextCursor`.';

export const nextCursor = [
  'Cursor of the next page. Absent at the end of the list, and in a list that is read by position.',
  'MTc2NzI2ODgwMDAwMCMwMUtEWFo4',
] as const;

export const unreadableIds = [
  'Ids of the rows that the list leaves out, because their data is damaged. Absent if there are none.',
  ['store_a:2000000123456789'],
] as [string, string[]];

export const dayRange = {
  startdate: ['First day of the range (UTC).', '2026-01-01'],
  enddate: ['Last day of the range (UTC).', '2026-01-31'],
} as const;

export const sandboxOnly = [
  "`true` counts the purchases of the stores' sandboxes only, with their amounts, and no requests. The default is `false`.",
  'true',
] as const;

export const includeNotifications = [
  'The response includes the lifecycle notifications. Only `true` includes them.',
  true,
] as const;

export const webhookPassword = [
  'Secret key of the app. Absent if the app excludes it; verify the signature instead.',
  'sec_E5DTy1Pkr4SO1VZpQ6VrrVAt6OrAIKmOLg5vKEeZv4',
] as const;
