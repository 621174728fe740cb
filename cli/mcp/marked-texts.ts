import type * as v from 'valibot';
import type { JsonSchema, SchemaNode } from '../../lib/api/json-schema.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';

/** A text that a customer, a store or a server wrote. */
export interface MarkedText {
  readonly untrustedText: string;
}

/** Texts of a few words are enough to identify something, and a long one costs the context of the assistant. */
const maxTextLength = 1_000;

/** Control characters and the characters that are invisible or change the direction of text, such as Unicode tags. */
const hiddenPattern = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}]|[\u{fe00}-\u{fe0f}]/gu;

/** Marks a text as data. Shows hidden characters as escapes. */
export function markText(text: string): MarkedText {
  const visible = text.replaceAll(hiddenPattern, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  return { untrustedText: visible.length > maxTextLength ? `${visible.slice(0, maxTextLength)}…` : visible };
}

const textSchema = {
  type: 'object',
  properties: { untrustedText: { type: 'string' } },
  required: ['untrustedText'],
  additionalProperties: false,
};

/**
 * Converts a schema of a result to the JSON Schema of its marked form. Texts whose format the schema limits, such as
 * dates and names of enumerations, stay texts. Each other text is an object, so that no text of a customer or a store
 * can pass for a text of the service.
 */
export const toMarkedSchema = (schema: v.GenericSchema): JsonSchema => convert(schema as unknown as SchemaNode);

function convert(node: SchemaNode): JsonSchema {
  if (node.pipe) return isLimitedText(node.pipe) ? { type: 'string' } : convert(findSchema(node.pipe));
  switch (node.type) {
    case 'string':
      return textSchema;
    case 'number':
    case 'boolean':
      return { type: node.type };
    case 'literal':
      return { const: node.literal };
    case 'picklist':
      return { type: 'string', enum: node.options };
    case 'array':
      return { type: 'array', items: convert(node.item as SchemaNode) };
    case 'nullable':
      return { anyOf: [convert(node.wrapped as SchemaNode), { type: 'null' }] };
    case 'optional':
    case 'exact_optional':
      return convert(node.wrapped as SchemaNode);
    case 'union':
    case 'variant':
      return { anyOf: (node.options as readonly SchemaNode[]).map(convert) };
    default:
      return convertObject(node);
  }
}

function convertObject({ type, entries }: SchemaNode): JsonSchema {
  if (!entries) throw new Error(`The schema type ${type} is not supported.`);
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, convert(entry)])),
    required: Object.keys(entries).filter((name) => !isOptional(entries[name] as SchemaNode)),
    additionalProperties: false,
  };
}

/** Marks the texts of a result. Omits members that the schema does not have. Throws if the result does not match. */
export const markTexts = (schema: v.GenericSchema, value: unknown): unknown =>
  mark(schema as unknown as SchemaNode, value);

function mark(node: SchemaNode, value: unknown): unknown {
  if (node.pipe) return isLimitedText(node.pipe) ? value : mark(findSchema(node.pipe), value);
  switch (node.type) {
    case 'string':
      return typeof value === 'string' ? markText(value) : rejectValue();
    case 'array':
      return Array.isArray(value) ? value.map((item) => mark(node.item as SchemaNode, item)) : rejectValue();
    case 'nullable':
      return value === null ? null : mark(node.wrapped as SchemaNode, value);
    case 'optional':
    case 'exact_optional':
      return mark(node.wrapped as SchemaNode, value);
    case 'variant':
      return mark(chooseOption(node, value), value);
    default:
      return node.entries ? markObject(node.entries, value) : value;
  }
}

function markObject(entries: Readonly<Record<string, SchemaNode>>, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return rejectValue();
  const members = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(entries).flatMap(([name, entry]) =>
      members[name] === undefined ? [] : [[name, mark(entry, members[name])]],
    ),
  );
}

function chooseOption({ key = '', options = [] }: SchemaNode, value: unknown): SchemaNode {
  const token = (value as Readonly<Record<string, unknown>> | null)?.[key];
  const option = (options as readonly SchemaNode[]).find(({ entries }) => entries?.[key]?.literal === token);
  return option ?? rejectValue();
}

/** The actions of a pipe exclude free text. */
const isLimitedText = (pipe: readonly SchemaNode[]): boolean =>
  pipe[0]?.type === 'string' && pipe.some(({ type }) => limitingActions.has(type));
const limitingActions = new Set(['iso_timestamp', 'iso_date', 'regex']);

const findSchema = (pipe: readonly SchemaNode[]): SchemaNode =>
  pipe.findLast(({ kind }) => kind === 'schema') as SchemaNode;

const isOptional = ({ type }: SchemaNode): boolean => type === 'optional' || type === 'exact_optional';

function rejectValue(): never {
  throw new ServiceError('ConnectionFailed', 'The service has sent a response in an unknown format.');
}
