import type { JsonSchema } from '../lib/api/json-schema.ts';
import { readApiExamples } from './api-examples.ts';
import type { buildOpenApiDocument } from './openapi.ts';
import { renderCurl, renderFetch } from './render-request.ts';

const examples = readApiExamples();

type Document = ReturnType<typeof buildOpenApiDocument>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content; readonly $ref?: string }>>;
  readonly 'x-aliases'?: readonly string[];
}

interface MediaType {
  readonly schema: JsonSchema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

type Content = Readonly<Record<string, MediaType>>;

interface LocatedOperation extends Operation {
  readonly method: string;
  readonly path: string;
}

/** Renders the API document as a page: the operations by tag, the webhooks, the errors and the schemas. */
export function renderApiReference(document: Document): string {
  const operations = listOperations(document.paths as Readonly<Record<string, Readonly<Record<string, object>>>>);
  const webhooks = Object.values(document.webhooks).map(({ post }) => post as unknown as Operation);
  return [
    '# API reference',
    '`npm run openapi` writes this page and [openapi.json](openapi.json) from the contracts in `lib/api/`. A running service returns the document at `GET /openapi.json`, without a key.',
    document.info.description,
    renderServers(document),
    'The examples are calls of `npm start`. Set `API`, `APP`, `PUBLIC` and `SECRET` with the first lines of the [README](../README.md#try-it). In JavaScript, `api`, `app`, `publicKey` and `secretKey` have the same values. Long texts are shortened, and lists have at most two items.',
    '## Operations',
    ...document.tags.flatMap(({ name, description }) => [
      // Differs from the heading of the schema with the same name, which is the target of links.
      `### Area: ${name}`,
      description,
      ...operations.filter(({ tags }) => tags[0] === name).map((operation) => renderOperation(operation)),
    ]),
    '## Webhooks to your server',
    ...webhooks.map(renderWebhook),
    '## Errors',
    renderErrors(document),
    '## Schemas',
    ...Object.entries(document.components.schemas).map(([name, schema]) => renderSchema(name, schema)),
    '',
  ].join('\n\n');
}

const listOperations = (paths: Readonly<Record<string, Readonly<Record<string, object>>>>): LocatedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...(operation as Operation),
      method: method.toUpperCase(),
      path,
    })),
  );

function renderServers({ servers, components }: Document): string {
  const schemes = Object.entries(components.securitySchemes).map(
    ([name, { description }]) => `- \`${name}\`: ${description}`,
  );
  return [
    `Base URL: ${servers[0]?.variables.apiUrl.description}`,
    'Credentials, in one of these forms:',
    schemes.join('\n'),
  ].join('\n\n');
}

function renderOperation({ method, path, responses, ...operation }: LocatedOperation): string {
  const { summary, description, deprecated, parameters, requestBody, 'x-aliases': aliases = [] } = operation;
  const { 200: success, ...errors } = responses;
  return joinBlocks([
    `#### ${method} ${path}`,
    `**${summary}.**${deprecated ? ' Deprecated.' : ''}`,
    description,
    aliases.length > 0 && `Released clients also call ${aliases.map(toCode).join(', ')}.`,
    parameters.length > 0 && renderParameters(parameters),
    requestBody && `Body: ${describeContent(requestBody.content)}`,
    `Response: ${describeContent(success?.content)}`,
    `Error statuses: ${Object.keys(errors).join(', ')}`,
    ...renderExample(method, operation.operationId),
  ]);
}

/** Renders the recorded call of an operation: the request as a command and in JavaScript, and the response. */
function renderExample(method: string, operationId: string): string[] {
  const example = examples.operations[operationId];
  if (!example) return [];
  const request = { method, ...example };
  return [
    renderBlock('sh', renderCurl(request)),
    renderBlock('js', renderFetch(request)),
    renderBlock('json', JSON.stringify(example.response, null, 2)),
  ];
}

const renderBlock = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;

const renderWebhook = ({ summary, description, parameters, requestBody }: Operation): string =>
  joinBlocks([
    `### ${summary}`,
    description,
    renderParameters(parameters),
    requestBody && `Body: ${describeContent(requestBody.content)}`,
    requestBody &&
      renderBlock('json', JSON.stringify(requestBody.content['application/json']?.examples?.recorded?.value, null, 2)),
  ]);

const renderParameters = (parameters: readonly Parameter[]): string =>
  renderTable(
    ['Parameter', 'In', 'Type', 'Required', 'Description', 'Example'],
    parameters.map(({ name, in: location, required, description, schema, example }) => [
      toCode(name),
      location,
      describeType(schema),
      required ? 'yes' : 'no',
      description,
      toExample(example),
    ]),
  );

function renderErrors({ components }: Document): string {
  const responses = Object.entries(components.responses as Readonly<Record<string, ErrorResponse>>)
    .filter(([name]) => !/^(?:Processor|OpenIap)/.test(name))
    .map(([, { description, content }]) => ({ description, body: content['application/json'].examples.error.value }));
  return joinBlocks([
    'The body is an [Error](#error); the Stripe operations return a [ProcessorError](#processorerror), and `POST /v1/purchase/verify` returns [OpenIapErrors](#openiaperrors). `POST /v1/validate` returns its errors with the status 200.',
    renderTable(
      ['Status', 'Description', 'Example'],
      responses.map(({ description, body }) => [String(body.status), description, toExample(body)]),
    ),
  ]);
}

interface ErrorResponse {
  readonly description: string;
  readonly content: {
    readonly 'application/json': {
      readonly examples: { readonly error: { readonly value: { readonly status: number } } };
    };
  };
}

function renderSchema(name: string, schema: JsonSchema): string {
  const { properties, required = [] } = schema as {
    properties?: Readonly<Record<string, JsonSchema>>;
    required?: readonly string[];
  };
  return joinBlocks([
    `### ${name}`,
    String(schema.description),
    !properties && `Type: ${describeType(schema)}`,
    properties &&
      renderTable(
        ['Field', 'Type', 'Required', 'Description', 'Example'],
        Object.entries(properties).map(([field, member]) => [
          toCode(field),
          describeType(member),
          required.includes(field) ? 'yes' : 'no',
          String(member.description),
          toExample((member.examples as readonly unknown[] | undefined)?.[0]),
        ]),
      ),
  ]);
}

const describeContent = (content: Content | undefined): string => {
  const schema = content?.['application/json']?.schema;
  return schema ? describeType(schema) : 'none';
};

/** Describes a type in a few words, with links to the named schemas. */
function describeType(schema: JsonSchema): string {
  const { $ref, oneOf, items, additionalProperties, format, type } = schema;
  const choices = schema.const === undefined ? schema.enum : [schema.const];
  if (typeof $ref === 'string') return linkSchema($ref);
  if (Array.isArray(oneOf)) return oneOf.map(describeType).join(' or ');
  if (Array.isArray(choices)) return choices.map((choice) => toCode(JSON.stringify(choice))).join(', ');
  if (typeof items === 'object') return `list of ${describeType(items as JsonSchema)}`;
  if (typeof additionalProperties === 'object') return `map of ${describeType(additionalProperties as JsonSchema)}`;
  const isDate = format === 'date' || format === 'date-time';
  return [isDate ? format : (type ?? 'any')].flat().join(' or ');
}

function linkSchema(reference: string): string {
  const name = reference.slice(reference.lastIndexOf('/') + 1);
  return `[${name}](#${name.toLowerCase()})`;
}

const toCode = (text: string): string => `\`${text}\``;
const toExample = (example: unknown): string => (example === undefined ? '' : toCode(JSON.stringify(example)));

const joinBlocks = (blocks: readonly (string | false | undefined)[]): string =>
  blocks.filter((block) => block !== undefined && block !== false).join('\n\n');

const renderTable = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.map(escapeCell).join(' | ')} |`).join('\n');

const escapeCell = (text: string): string => text.replaceAll('|', '\\|');
