import type * as v from 'valibot';
import type { FieldDescription, SchemaDescription } from './describe.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A schema or an action of valibot with the members that differ between types. */
export interface SchemaNode {
  readonly kind: 'schema' | 'validation' | 'transformation' | 'metadata';
  readonly type: string;
  readonly pipe?: readonly SchemaNode[];
  readonly wrapped?: SchemaNode;
  readonly entries?: Readonly<Record<string, SchemaNode>>;
  readonly item?: SchemaNode;
  readonly value?: SchemaNode;
  readonly literal?: unknown;
  readonly options?: readonly unknown[];
  readonly key?: string;
  readonly default?: unknown;
  readonly fallback?: unknown;
  readonly requirement?: unknown;
}

/** `input` for requests, `output` for responses and webhooks. */
type Direction = 'input' | 'output';

/** Converts schemas to JSON Schema (draft 2020-12). A described schema becomes a reference to its component. */
export class SchemaConverter {
  private readonly descriptions: ReadonlyMap<unknown, SchemaDescription>;

  constructor(descriptions: readonly SchemaDescription[]) {
    this.descriptions = new Map(descriptions.map((description) => [description.schema, description]));
  }

  convert(schema: v.GenericSchema, direction: Direction): JsonSchema {
    return this.convertNode(schema as unknown as SchemaNode, direction);
  }

  /** Converts a described schema to its component. */
  convertComponent({ schema, description, fields, example }: SchemaDescription, direction: Direction): JsonSchema {
    const node = schema as unknown as SchemaNode;
    const converted = fields
      ? this.convertObject(node, direction, fields)
      : { ...this.convertType(node, direction), ...(example !== undefined && { examples: [example] }) };
    return { description, ...converted };
  }

  /** Converts a field with its description. The example of a described schema is in its component. */
  convertField(schema: v.GenericSchema, field: FieldDescription, direction: Direction): JsonSchema {
    const [description, example, number] = field;
    const { examples, ...converted } = this.convert(schema, direction);
    const ownExamples = example === undefined ? examples : [example];
    return {
      ...converted,
      ...(number === 'decimal' && { format: 'double', type: toDecimalType(converted.type) }),
      description,
      ...(ownExamples !== undefined && { examples: ownExamples }),
    };
  }

  private convertNode(node: SchemaNode, direction: Direction): JsonSchema {
    const description = this.descriptions.get(node);
    if (!description) return this.convertType(node, direction);
    if (description.format) return { ...description.format, examples: [description.example] };
    return { $ref: `#/components/schemas/${description.name}` };
  }

  private convertType(node: SchemaNode, direction: Direction): JsonSchema {
    if (node.pipe) return this.convertPipe(node.pipe, direction);
    switch (node.type) {
      case 'string':
        return { type: 'string' };
      case 'number':
        return integer;
      case 'boolean':
        return { type: 'boolean' };
      case 'unknown':
        return {};
      case 'literal':
        return { type: typeof node.literal === 'number' ? 'integer' : typeof node.literal, const: node.literal };
      case 'picklist':
        return { type: 'string', enum: [...(node.options as readonly string[])] };
      case 'array':
        return { type: 'array', items: this.convertNode(node.item as SchemaNode, direction) };
      case 'record':
        return { type: 'object', additionalProperties: this.convertNode(node.value as SchemaNode, direction) };
      case 'nullable':
        return toNullable(this.convertNode(node.wrapped as SchemaNode, direction));
      case 'optional':
      case 'exact_optional':
      case 'nullish':
        return this.convertNode(node.wrapped as SchemaNode, direction);
      case 'union':
        return this.convertUnion(node.options as readonly SchemaNode[], direction);
      case 'variant':
        return this.convertVariant(node, direction);
      default:
        if (node.entries) return this.convertObject(node, direction);
        throw new Error(`The schema type ${node.type} is not supported.`);
    }
  }

  /**
   * Converts the last schema of a pipe with the checks after it. Checks after a transformation are not of the wire
   * format.
   */
  private convertPipe(pipe: readonly SchemaNode[], direction: Direction): JsonSchema {
    const start = pipe.findLastIndex(({ kind }) => kind === 'schema');
    const base = this.convertNode(pipe[start] as SchemaNode, direction);
    const actions = pipe.slice(start + 1);
    const end = actions.findIndex(({ type }) => type === 'transform');
    const isParsedNumber = base.type === 'string' && actions.some(isNumericBound);
    if (isParsedNumber) return { type: 'integer', ...mergeKeywords(actions.filter(isNumericBound)) };
    return { ...base, ...mergeKeywords(end === -1 ? actions : actions.slice(0, end)) };
  }

  /** A union of enumerations is one enumeration. The first options of a lenient union are for released clients. */
  private convertUnion(options: readonly SchemaNode[], direction: Direction): JsonSchema {
    const values = options.map(({ type, literal, options: choices }) =>
      type === 'picklist' ? (choices as readonly unknown[]) : type === 'literal' ? [literal] : undefined,
    );
    if (values.every((choices) => choices !== undefined)) return { type: 'string', enum: values.flat() };
    if (direction === 'input' && !options.every((option) => this.descriptions.has(option)))
      return this.convertNode(chooseStrictOption(options), direction);
    return { oneOf: options.map((option) => this.convertNode(option, direction)) };
  }

  private convertVariant({ key = '', options = [] }: SchemaNode, direction: Direction): JsonSchema {
    const variants = (options as readonly SchemaNode[]).map((option) => ({
      token: String(option.entries?.[key]?.literal),
      reference: this.convertNode(option, direction),
    }));
    return {
      oneOf: variants.map(({ reference }) => reference),
      discriminator: {
        propertyName: key,
        mapping: Object.fromEntries(variants.map(({ token, reference }) => [token, reference.$ref])),
      },
    };
  }

  private convertObject(
    node: SchemaNode,
    direction: Direction,
    fields?: Readonly<Record<string, FieldDescription>>,
  ): JsonSchema {
    const entries = Object.entries(findObject(node).entries ?? {});
    const required = entries.filter(([, entry]) => !isOptional(entry)).map(([name]) => name);
    const properties = entries.map(([name, entry]): [string, JsonSchema] => {
      const field = fields?.[name];
      const schema = entry as unknown as v.GenericSchema;
      return [name, field ? this.convertField(schema, field, direction) : this.convert(schema, direction)];
    });
    return {
      type: 'object',
      ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
      ...(required.length > 0 && { required }),
      ...additionalProperties[findObject(node).type],
    };
  }
}

const additionalProperties: Readonly<Record<string, JsonSchema>> = {
  strict_object: { additionalProperties: false },
  loose_object: { additionalProperties: true },
};

const integer = { type: 'integer', format: 'int64' };

const toDecimalType = (type: unknown): unknown =>
  Array.isArray(type) ? type.map((name) => (name === 'integer' ? 'number' : name)) : 'number';

/** A reference does not have a type to which null could be added. */
const toNullable = (schema: JsonSchema): JsonSchema =>
  schema.$ref === undefined ? { ...schema, type: [schema.type, 'null'] } : { oneOf: [schema, { type: 'null' }] };

const optionalTypes = new Set(['optional', 'exact_optional', 'nullish']);

/** A fallback replaces an absent value, too. */
const isOptional = (node: SchemaNode): boolean =>
  optionalTypes.has(node.type) || (node.fallback === undefined && 'fallback' in node);

/** Returns the object schema of a pipe, or the schema itself. */
const findObject = (node: SchemaNode): SchemaNode => node.pipe?.findLast(({ entries }) => entries) ?? node;

/** Chooses the number of a number or its digits, else the last option: the others are empty values or other types. */
const chooseStrictOption = (options: readonly SchemaNode[]): SchemaNode =>
  (options.find(({ type, pipe }) => type === 'number' || pipe?.[0]?.type === 'number') ?? options.at(-1)) as SchemaNode;

/** Bounds the number that a text was parsed to. */
const isNumericBound = ({ type, requirement }: SchemaNode): boolean =>
  (type === 'min_value' || type === 'max_value') && typeof requirement === 'number';

const keywords: Readonly<Record<string, (requirement: unknown) => JsonSchema>> = {
  min_length: (requirement) => ({ minLength: requirement }),
  max_length: (requirement) => ({ maxLength: requirement }),
  // A character has one byte or more.
  max_bytes: (requirement) => ({ maxLength: requirement }),
  min_value: (requirement) => ({ minimum: requirement }),
  max_value: (requirement) => ({ maximum: requirement }),
  // JSON texts are well-formed Unicode, so a pattern for it says nothing.
  regex: (requirement) => {
    const { source } = requirement as RegExp;
    return source.includes('\\P') ? {} : { pattern: source };
  },
  url: () => ({ format: 'uri' }),
  iso_timestamp: () => ({ format: 'date-time' }),
};

const mergeKeywords = (actions: readonly SchemaNode[]): JsonSchema =>
  Object.assign({}, ...actions.map(({ type, requirement }) => keywords[type]?.(requirement) ?? {}));
