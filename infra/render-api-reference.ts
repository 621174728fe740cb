import type { JsonSchema } from '../lib/api/json-schema.ts';
import { readApiExamples } from './api-examples.ts';
import {
  escapeHtml,
  joinBlocks,
  link,
  renderBlock,
  renderHeading,
  renderInline,
  renderList,
  renderTable,
  renderText,
  toCode,
} from './html.ts';
import type { buildOpenApiDocument } from './openapi.ts';
import { renderCurl, renderFetch, renderPython } from './render-request.ts';

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

/** Renders the content of the reference: the operations by tag, the webhooks, the errors and the schemas. */
export function renderApiReference(document: Document): string {
  const operations = listOperations(document.paths as Readonly<Record<string, Readonly<Record<string, object>>>>);
  const webhooks = Object.values(document.webhooks).map(({ post }) => post as unknown as Operation);
  const areas = document.tags
    .map(({ name, description }) => ({
      name,
      description,
      operations: operations.filter(({ tags }) => tags[0] === name),
    }))
    .filter((area) => area.operations.length > 0);
  return joinBlocks([
    '<nav aria-label="Contents">',
    ...areas.map(({ name, operations: ofArea }) => renderContents(name, ofArea)),
    renderContents('Webhooks to your server', webhooks),
    renderList([link('errors', 'Errors'), link('schemas', 'Schemas')]),
    '</nav>',
    '<main>',
    renderHeading(1, 'API reference'),
    renderText(document.info.description),
    '<p>The same as a document for tools, in OpenAPI: <a href="openapi.json">openapi.json</a>.</p>',
    renderServers(document),
    renderText(
      'The examples are calls of the local service. `API`, `APP`, `PUBLIC` and `SECRET` are the base URL, the name of the app, and its keys. In JavaScript, `api`, `app`, `publicKey` and `secretKey` have the same values; in Python, `public_key` and `secret_key`, after `import requests`. Long texts are shortened, and lists have at most two items.',
    ),
    ...areas.flatMap(({ name, description, operations: ofArea }) => [
      renderHeading(2, name, `area-${name}`),
      renderText(description),
      ...ofArea.map((operation) => renderOperation(operation)),
    ]),
    renderHeading(2, 'Webhooks to your server', 'webhooks'),
    ...webhooks.map(renderWebhook),
    renderHeading(2, 'Errors', 'errors'),
    renderErrors(document),
    renderHeading(2, 'Schemas', 'schemas'),
    ...Object.entries(document.components.schemas).map(([name, schema]) => renderSchema(name, schema)),
    '</main>',
  ]);
}

const renderContents = (title: string, operations: readonly Operation[]): string =>
  joinBlocks([
    `<h2>${escapeHtml(title)}</h2>`,
    renderList(operations.map(({ operationId, summary }) => link(operationId, summary))),
  ]);

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
    ([name, { description }]) => `${renderInline(`\`${name}\`: ${description}`)}`,
  );
  return joinBlocks([
    renderText(`Base URL: ${servers[0]?.variables.apiUrl.description}`),
    renderText('Credentials, in one of these forms:'),
    renderList(schemes),
  ]);
}

function renderOperation({ method, path, responses, ...operation }: LocatedOperation): string {
  const { summary, description, deprecated, parameters, requestBody, 'x-aliases': aliases = [] } = operation;
  const { 200: success, ...errors } = responses;
  return joinBlocks([
    renderHeading(3, `${method} ${path}`, operation.operationId),
    `<p><strong>${escapeHtml(summary)}.</strong>${deprecated ? ' Deprecated.' : ''}</p>`,
    renderText(description),
    aliases.length > 0 &&
      renderText(`Released clients also call ${aliases.map((alias) => `\`${alias}\``).join(', ')}.`),
    parameters.length > 0 && renderParameters(parameters),
    requestBody && `<p>Body: ${describeContent(requestBody.content)}</p>`,
    `<p>Response: ${describeContent(success?.content)}</p>`,
    renderText(`Error statuses: ${Object.keys(errors).join(', ')}`),
    ...renderExample(method, operation.operationId),
  ]);
}

/** Renders the recorded call of an operation: the request in each language, and the response. */
function renderExample(method: string, operationId: string): string[] {
  const example = examples.operations[operationId];
  if (!example) return [];
  const request = { method, ...example };
  return [
    renderBlock('Command', renderCurl(request)),
    renderBlock('JavaScript', renderFetch(request)),
    renderBlock('Python', renderPython(request)),
    renderBlock('Example of the response', JSON.stringify(example.response, null, 2)),
  ];
}

const renderWebhook = ({ operationId, summary, description, parameters, requestBody }: Operation): string =>
  joinBlocks([
    renderHeading(3, summary, operationId),
    renderText(description),
    renderParameters(parameters),
    requestBody && `<p>Body: ${describeContent(requestBody.content)}</p>`,
    requestBody &&
      renderBlock(
        'Example of the body',
        JSON.stringify(requestBody.content['application/json']?.examples?.recorded?.value, null, 2),
      ),
  ]);

const renderParameters = (parameters: readonly Parameter[]): string =>
  renderTable(
    ['Parameter', 'In', 'Type', 'Required', 'Description', 'Example'],
    parameters.map(({ name, in: location, required, description, schema, example }) => [
      toCode(name),
      location,
      describeType(schema),
      required ? 'yes' : 'no',
      renderInline(description),
      toExample(example),
    ]),
  );

function renderErrors({ components }: Document): string {
  const responses = Object.entries(components.responses as Readonly<Record<string, ErrorResponse>>)
    .filter(([name]) => !/^(?:Processor|OpenIap)/.test(name))
    .map(([, { description, content }]) => ({ description, body: content['application/json'].examples.error.value }));
  return joinBlocks([
    `<p>The body is an ${linkSchema('Error')}; the Stripe operations return a ${linkSchema('ProcessorError')}, and <code>POST /v1/purchase/verify</code> returns ${linkSchema('OpenIapErrors')}. <code>POST /v1/validate</code> returns its errors with the status 200.</p>`,
    renderTable(
      ['Status', 'Description', 'Example'],
      responses.map(({ description, body }) => [String(body.status), renderInline(description), toExample(body)]),
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
    renderHeading(3, name, `schema-${name}`),
    renderText(String(schema.description)),
    !properties && `<p>Type: ${describeType(schema)}</p>`,
    properties &&
      renderTable(
        ['Field', 'Type', 'Required', 'Description', 'Example'],
        Object.entries(properties).map(([field, member]) => [
          toCode(field),
          describeType(member),
          required.includes(field) ? 'yes' : 'no',
          renderInline(String(member.description)),
          toExample((member.examples as readonly unknown[] | undefined)?.[0]),
        ]),
      ),
  ]);
}

const describeContent = (content: Content | undefined): string => {
  const schema = content?.['application/json']?.schema;
  return schema ? describeType(schema) : 'none';
};

/** Describes a type in a few words, with links to the named schemas, as HTML. */
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
  return link(`schema-${name}`, name);
}

const toExample = (example: unknown): string => (example === undefined ? '' : toCode(JSON.stringify(example)));
