import type * as v from 'valibot';
import { ServiceError } from '../../lib/shared/errors.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The members of valibot schemas and actions that the conversion uses. */
interface Node {
  readonly kind: 'schema' | 'validation' | 'transformation' | 'metadata';
  readonly type: string;
  readonly pipe?: readonly Node[];
  readonly wrapped?: Node;
  readonly entries?: Readonly<Record<string, Node>>;
  readonly item?: Node;
  readonly literal?: unknown;
  readonly options?: readonly unknown[];
  readonly key?: string;
}

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
export const toMarkedSchema = (schema: v.GenericSchema): JsonSchema => convert(schema as unknown as Node);

function convert(node: Node): JsonSchema {
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
      return { type: 'array', items: convert(node.item as Node) };
    case 'nullable':
      return { anyOf: [convert(node.wrapped as Node), { type: 'null' }] };
    case 'optional':
    case 'exact_optional':
      return convert(node.wrapped as Node);
    case 'union':
    case 'variant':
      return { anyOf: (node.options as readonly Node[]).map(convert) };
    default:
      return convertObject(node);
  }
}

function convertObject({ type, entries }: Node): JsonSchema {
  if (!entries) throw new Error(`The schema type ${type} is not supported.`);
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, convert(entry)])),
    required: Object.keys(entries).filter((name) => !isOptional(entries[name] as Node)),
    additionalProperties: false,
  };
}

/** Marks the texts of a result. Omits members that the schema does not have. Throws if the result does not match. */
export const markTexts = (schema: v.GenericSchema, value: unknown): unknown => mark(schema as unknown as Node, value);

function mark(node: Node, value: unknown): unknown {
  if (node.pipe) return isLimitedText(node.pipe) ? value : mark(findSchema(node.pipe), value);
  switch (node.type) {
    case 'string':
      return typeof value === 'string' ? markText(value) : rejectValue();
    case 'array':
      return Array.isArray(value) ? value.map((item) => mark(node.item as Node, item)) : rejectValue();
    case 'nullable':
      return value === null ? null : mark(node.wrapped as Node, value);
    case 'optional':
    case 'exact_optional':
      return mark(node.wrapped as Node, value);
    case 'variant':
      return mark(chooseOption(node, value), value);
    default:
      return node.entries ? markObject(node.entries, value) : value;
  }
}

function markObject(entries: Readonly<Record<string, Node>>, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return rejectValue();
  const members = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(entries).flatMap(([name, entry]) =>
      members[name] === undefined ? [] : [[name, mark(entry, members[name])]],
    ),
  );
}

function chooseOption({ key = '', options = [] }: Node, value: unknown): Node {
  const token = (value as Readonly<Record<string, unknown>> | null)?.[key];
  const option = (options as readonly Node[]).find(({ entries }) => entries?.[key]?.literal === token);
  return option ?? rejectValue();
}

/** Whether the actions of a pipe exclude free text. */
const isLimitedText = (pipe: readonly Node[]): boolean =>
  pipe[0]?.type === 'string' && pipe.some(({ type }) => limitingActions.has(type));
const limitingActions = new Set(['iso_timestamp', 'iso_date', 'regex']);

const findSchema = (pipe: readonly Node[]): Node => pipe.findLast(({ kind }) => kind === 'schema') as Node;

const isOptional = ({ type }: Node): boolean => type === 'optional' || type === 'exact_optional';

function rejectValue(): never {
  throw new ServiceError('ConnectionFailed', 'The service has sent a response in an unknown format.');
}
