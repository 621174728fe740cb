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
