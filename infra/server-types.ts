import { errorCodes } from '../lib/foundation/errors.ts';
import { errorFixes } from './server-errors.ts';

/** A part of JSON Schema as the API document has it. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly description?: string;
}

type Schemas = Readonly<Record<string, Schema>>;

const webhooks = [
  'PurchasesUpdatedWebhook',
  'RefundRequestedWebhook',
  'ConsentRescindedWebhook',
  'ExternalPurchaseTokenWebhook',
  'TestWebhook',
];

/** The schemas that the packages for servers use. The ones that they contain follow. */
const roots = [
  'ErrorCode',
  'CustomerEntitlements',
  'CustomerCredits',
  'SpendRequest',
  'CreditChange',
  'ValidationRequest',
  'ValidationResponse',
  'TokenKeys',
  ...webhooks,
];

export const serverTypeFiles = {
  typeScript: 'packages/server/types.ts',
  python: 'packages/server-python/claimcheck_server/types.py',
};

const notice = 'Generated from the contracts of the service by `npm run openapi`. Do not edit.';
const toName = (ref: string): string => ref.split('/').at(-1) ?? '';

function listNames(schemas: Schemas): string[] {
  const names = new Set<string>(roots);
  for (const name of names)
    for (const [, ref = ''] of JSON.stringify(schemas[name]).matchAll(/"\$ref":"([^"]+)"/g)) names.add(toName(ref));
  return [...names].toSorted();
}

/** How a language writes types. */
interface Language {
  readonly names: Readonly<Record<string, string>>;
  union(parts: readonly string[]): string;
  literal(values: readonly unknown[]): string;
  list(item: string): string;
  map(value: string): string;
}

function toType(schema: Schema, language: Language): string {
  const { $ref, type, oneOf, items, additionalProperties } = schema;
  if ($ref !== undefined) return toName($ref);
  if ('const' in schema) return language.literal([schema.const]);
  if (schema.enum) return language.literal(schema.enum);
  if (oneOf) return language.union(oneOf.map((part) => toType(part, language)));
  if (Array.isArray(type)) return language.union(type.map((part) => toType({ ...schema, type: part }, language)));
  if (type === 'array' && items) return language.list(toType(items, language));
  if (type === 'object')
    return language.map(toType(typeof additionalProperties === 'object' ? additionalProperties : {}, language));
  return language.names[String(type)] ?? language.names.unknown ?? '';
}

const typeScript: Language = {
  names: {
    string: 'string',
    number: 'number',
    integer: 'number',
    boolean: 'boolean',
    null: 'null',
    unknown: 'unknown',
  },
  union: (parts) => parts.join(' | '),
  literal: (values) => values.map((value) => (typeof value === 'string' ? `'${value}'` : value)).join(' | '),
  list: (item) => (item.includes(' | ') ? `readonly (${item})[]` : `readonly ${item}[]`),
  map: (value) => `Readonly<Record<string, ${value}>>`,
};

/** A class in quotes can follow the alias that uses it. */
const quote = (type: string): string => (/^[A-Z]\w*$/.test(type) ? `"${type}"` : type);

const python: Language = {
  names: { string: 'str', number: 'float', integer: 'int', boolean: 'bool', null: 'None', unknown: 'Any' },
  union: (parts) => `Union[${parts.map(quote).join(', ')}]`,
  literal: (values) => `Literal[${values.map(toPythonLiteral).join(', ')}]`,
  list: (item) => `List[${quote(item)}]`,
  map: (value) => `Dict[str, ${quote(value)}]`,
};

function toPythonLiteral(value: unknown): string {
  if (typeof value !== 'boolean') return JSON.stringify(value);
  return value ? 'True' : 'False';
}

const numbers = Object.entries(errorCodes).map(([code, { number }]) => [number, code] as const);
const fixes = Object.entries(errorFixes);

function writeTypeScript(name: string, schema: Schema): string {
  const { description = '', properties, required = [], additionalProperties } = schema;
  const comment = `/** ${description} */\nexport `;
  if (!properties) return `${comment}type ${name} = ${toType(schema, typeScript)};\n`;
  const members = Object.entries(properties).map(
    ([member, value]) =>
      `  /** ${value.description ?? ''} */\n  readonly ${member}${required.includes(member) ? '' : '?'}: ${toType(value, typeScript)};\n`,
  );
  const others = additionalProperties === true ? '  readonly [member: string]: unknown;\n' : '';
  return `${comment}interface ${name} {\n${members.join('')}${others}}\n`;
}

function writePython(name: string, schema: Schema): string {
  const { description = '', properties, required = [] } = schema;
  if (!properties) return `# ${description}\n${name} = ${toType(schema, python)}\n`;
  const write = (isRequired: boolean): string =>
    Object.entries(properties)
      .filter(([member]) => required.includes(member) === isRequired)
      .map(([member, value]) => `    # ${value.description ?? ''}\n    ${member}: ${toType(value, python)}\n`)
      .join('');
  const [base, optional] = [write(true), write(false)];
  const text = `    """${description}"""\n\n`;
  if (optional === '') return `class ${name}(TypedDict):\n${text}${base}`;
  if (base === '') return `class ${name}(TypedDict, total=False):\n${text}${optional}`;
  return `class _${name}(TypedDict):\n${base}\n\nclass ${name}(_${name}, total=False):\n${text}${optional}`;
}

/** Writes the types of the packages for servers, from the schemas of the API document. */
export function buildServerTypes(schemas: Schemas): { readonly typeScript: string; readonly python: string } {
  const event = {
    description: 'The body of a webhook. `type` selects the form.',
    oneOf: webhooks.map((name) => ({ $ref: name })),
  };
  const entries: (readonly [string, Schema])[] = [
    ...listNames(schemas).map((name) => [name, schemas[name] ?? {}] as const),
    ['WebhookEvent', event],
  ];
  // Python evaluates an alias when it loads the module.
  const [aliases, objects] = [false, true].map((isObject) =>
    entries.filter(([, { properties }]) => (properties !== undefined) === isObject),
  );
  const codes = fixes.map(([code]) => code);
  return {
    typeScript: [
      `// ${notice}\n`,
      ...entries.map((entry) => writeTypeScript(...entry)),
      `/** A code of the service, or of this package. */\nexport type ClaimcheckErrorCode = ${typeScript.literal(codes)};\n`,
      `/** Codes by the number that a failed validation has. */\nexport const errorNumbers: Readonly<Record<number, ErrorCode>> = {\n${numbers.map(([number, code]) => `  ${number}: '${code}',\n`).join('')}};\n`,
      `/** What to do about an error. */\nexport const errorFixes: Readonly<Record<ClaimcheckErrorCode, string>> = {\n${fixes.map(([code, fix]) => `  ${code}: '${fix}',\n`).join('')}};\n`,
    ].join('\n'),
    python: [
      `"""${notice}"""\n\nfrom __future__ import annotations\n\nfrom typing import Any, Dict, List, Literal, TypedDict, Union\n`,
      ...[...(aliases ?? []), ...(objects ?? [])].map((entry) => writePython(...entry)),
      `# Codes by the number that a failed validation has.\nERROR_NUMBERS: Dict[int, str] = {\n${numbers.map(([number, code]) => `    ${number}: "${code}",\n`).join('')}}\n`,
      `# What to do about an error.\nERROR_FIXES: Dict[str, str] = {\n${fixes.map(([code, fix]) => `    "${code}": ${JSON.stringify(fix)},\n`).join('')}}\n`,
    ].join('\n\n'),
  };
}
