import type { JsonSchema } from '../lib/api/json-schema.ts';
import { readApiExamples } from './api-examples.ts';
import {
  escapeHtml,
  joinBlocks,
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
import { renderCode, type Section } from './site/render-markdown.ts';

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
  readonly responses: Readonly<Record<string, OperationResponse>>;
  readonly 'x-aliases'?: readonly string[];
}

interface OperationResponse {
  readonly content?: Content;
  readonly $ref?: string;
  /** Causes of an error, one a line. Absent if all operations have the same. */
  readonly description?: string;
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

/** A page of the reference, in its own folder of the site. */
export interface ReferencePage {
  /** Name of the file without `.html`: `index`, an area, `errors` or `schemas`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly html: string;
  readonly sections: readonly Section[];
}

interface Area {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly operations: readonly LocatedOperation[];
  readonly webhooks: readonly Operation[];
}

/** Titles of areas whose name is an abbreviation. */
const areaTitles: Readonly<Record<string, string>> = { stats: 'Statistics', app: 'App settings', due: 'Due work' };

const examplesNote =
  '<p>The <a href="index.html">overview</a> explains credentials and the variables of the examples.</p>';

/** Returns the URL of the description of a schema, relative to the page. */
type ToSchemaUrl = (name: string) => string;

const schemasPage = 'schemas';

/** A longer response is shown if the reader opens it. */
const maxOpenLines = 60;

/** Renders the reference: its overview, a page for each area, the errors, and the schemas that several areas use. */
export function renderApiReference(document: Document): ReferencePage[] {
  const areas = listAreas(document);
  const pageBySchema = locateSchemas(document, areas);
  const toSchemaUrl =
    (page: string): ToSchemaUrl =>
    (name) => {
      const target = pageBySchema.get(name) ?? schemasPage;
      return `${target === page ? '' : `${target}.html`}#schema-${name}`;
    };
  const renderSchemasOf = (page: string) =>
    Object.entries(document.components.schemas)
      .filter(([name]) => pageBySchema.get(name) === page)
      .map(([name, schema]) =>
        renderSchema(name, schema, { level: page === schemasPage ? 2 : 3, toUrl: toSchemaUrl(page) }),
      );
  const toPage = (page: Omit<ReferencePage, 'html' | 'sections'>, parts: readonly Part[]): ReferencePage => ({
    ...page,
    html: joinBlocks(parts.map(({ html }) => html)),
    sections: [
      { level: 1, id: '', title: page.title, text: page.description },
      ...parts.flatMap(({ section }) => section ?? []),
    ],
  });
  return [
    toPage({ name: 'index', title: 'API reference', description: document.info.description }, [
      { html: renderOverview(document, areas) },
      ...areas.map(({ name, title, description }) => ({
        html: '',
        section: { level: 2, id: `area-${name}`, title, text: description },
      })),
    ]),
    ...areas.map(({ name, title, description, operations, webhooks }) => {
      const schemas = renderSchemasOf(name);
      return toPage({ name, title, description }, [
        { html: joinBlocks([renderHeading(1, title), renderText(description), examplesNote]) },
        ...operations.map((operation) => renderOperation(operation, toSchemaUrl(name))),
        ...(webhooks.length > 0 ? [renderPart(2, 'Webhooks to your server', 'webhooks')] : []),
        ...webhooks.map((webhook) => renderWebhook(webhook, toSchemaUrl(name))),
        ...(schemas.length > 0 ? [renderPart(2, 'Schemas', 'schemas')] : []),
        ...schemas,
      ]);
    }),
    toPage({ name: 'errors', title: 'Errors', description: 'Statuses and bodies of failed requests.' }, [
      { html: joinBlocks([renderHeading(1, 'Errors'), renderErrors(document, toSchemaUrl('errors'))]) },
    ]),
    toPage({ name: schemasPage, title: 'Schemas', description: 'Schemas that several areas use.' }, [
      {
        html: joinBlocks([
          renderHeading(1, 'Schemas'),
          renderText('The schemas that several areas use. The schemas of one area are on its page.'),
        ]),
      },
      ...renderSchemasOf(schemasPage),
    ]),
  ];
}

/** A part of a page, with what the search finds in it. */
interface Part {
  readonly html: string;
  readonly section?: Section;
}

const renderPart = (level: 2 | 3, title: string, id: string): Part => ({
  html: renderHeading(level, title, id),
  section: { level, id, title, text: '' },
});

function listAreas(document: Document): Area[] {
  const operations = listOperations(document.paths as Readonly<Record<string, Readonly<Record<string, object>>>>);
  const webhooks = Object.values(document.webhooks).map(({ post }) => post as unknown as Operation);
  return document.tags
    .map(({ name, description }) => ({
      name,
      title: areaTitles[name] ?? `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
      description,
      operations: operations.filter(({ tags }) => tags[0] === name),
      webhooks: name === 'webhooks' ? webhooks : [],
    }))
    .filter((area) => area.operations.length > 0);
}

/** Returns the page of each schema: the area, if only one uses it. */
function locateSchemas({ components }: Document, areas: readonly Area[]): ReadonlyMap<string, string> {
  const schemas: Readonly<Record<string, JsonSchema>> = components.schemas;
  const pages = new Map<string, string>();
  const visit = (value: object, page: string): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      const present = pages.get(name);
      if (present === page || present === schemasPage) continue;
      const next = present === undefined ? page : schemasPage;
      pages.set(name, next);
      visit(schemas[name] ?? {}, next);
    }
  };
  for (const { name, operations, webhooks } of areas) visit([operations, webhooks], name);
  return new Map(Object.keys(schemas).map((name) => [name, pages.get(name) ?? schemasPage]));
}

const listOperations = (paths: Readonly<Record<string, Readonly<Record<string, object>>>>): LocatedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...(operation as Operation),
      method: method.toUpperCase(),
      path,
    })),
  );

function renderOverview(document: Document, areas: readonly Area[]): string {
  return joinBlocks([
    renderHeading(1, 'API reference'),
    renderText(document.info.description),
    '<p>The same as a document for tools, in OpenAPI: <a href="../openapi.json">openapi.json</a>.</p>',
    renderServers(document),
    renderText(
      'The examples are calls of the local service. `API`, `APP`, `PUBLIC` and `SECRET` are the base URL, the name of the app, and its keys. In JavaScript, `api`, `app`, `publicKey` and `secretKey` have the same values; in Python, `public_key` and `secret_key`, after `import requests`. Long texts are shortened, and lists have at most two items.',
    ),
    '<p><a href="errors.html">Errors</a> lists the statuses, and <a href="schemas.html">Schemas</a> the objects that several areas use.</p>',
    ...areas.flatMap(({ name, title, description, operations, webhooks }) => [
      `<h2 id="area-${name}"><a href="${name}.html">${escapeHtml(title)}</a></h2>`,
      renderText(description),
      renderTable(
        ['Operation', 'Effect'],
        operations.map(({ method, path, operationId, summary }) => [
          // The anchors of earlier versions of this page.
          `<a id="${operationId}" href="${name}.html#${operationId}">${toCode(`${method} ${path}`)}</a>`,
          escapeHtml(summary),
        ]),
      ),
      webhooks.length > 0 && renderText(`The same page has the [webhooks to your server](${name}.html#webhooks).`),
    ]),
  ]);
}

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

function renderOperation({ method, path, responses, ...operation }: LocatedOperation, toUrl: ToSchemaUrl): Part {
  const { operationId, summary, description, deprecated, parameters, requestBody } = operation;
  const { 'x-aliases': aliases = [] } = operation;
  const { 200: success, ...errors } = responses;
  const html = joinBlocks([
    renderHeading(2, summary, operationId),
    `<p class="endpoint"><strong>${method}</strong> ${toCode(path)}</p>`,
    deprecated && renderText('Deprecated.'),
    renderText(description),
    aliases.length > 0 &&
      renderText(`Released clients also call ${aliases.map((alias) => `\`${alias}\``).join(', ')}.`),
    parameters.length > 0 && renderParameters(parameters, toUrl),
    requestBody && `<p>Body: ${describeContent(requestBody.content, toUrl)}</p>`,
    `<p>Response: ${describeContent(success?.content, toUrl)}</p>`,
    renderOperationErrors(errors),
    renderExample(method, operationId),
  ]);
  const names = parameters.map(({ name }) => name).join(' ');
  const text = `${method} ${[path, ...aliases].join(' ')} ${description} ${names}`;
  return { html, section: { level: 2, id: operationId, title: summary, text } };
}

/** Renders the errors whose causes the operation describes, and the statuses that each operation can have. */
function renderOperationErrors(errors: Readonly<Record<string, OperationResponse>>): string {
  const rows = Object.entries(errors).flatMap(([status, { description }]) =>
    (description?.split('\n') ?? []).map((cause) => [status, renderInline(cause)]),
  );
  const others = Object.keys(errors).filter((status) => errors[status]?.description === undefined);
  return joinBlocks([
    rows.length > 0 && renderTable(['Error', 'Cause'], rows),
    others.length > 0 &&
      `<p>${rows.length > 0 ? 'Other statuses' : 'Error statuses'}: <a href="errors.html">${others.join(', ')}</a></p>`,
  ]);
}

/** Renders the recorded call of an operation: the request in each language, and the response. */
function renderExample(method: string, operationId: string): string | undefined {
  const example = examples.operations[operationId];
  if (!example) return undefined;
  const request = { method, ...example };
  const response = renderJson(example.response);
  return joinBlocks([
    '<div class="example">',
    renderLanguage('curl', renderCode(renderCurl(request), 'bash')),
    renderLanguage('JavaScript', renderCode(renderFetch(request), 'js')),
    renderLanguage('Python', renderCode(renderPython(request), 'python')),
    '</div>',
    renderBlock('Example of the response', response, response.split('\n').length <= maxOpenLines),
  ]);
}

/** Renders code in a language. The script of the page shows the language that the reader selects. */
const renderLanguage = (language: string, code: string): string =>
  `<figure data-language="${language}"><figcaption>${language}</figcaption>${code}</figure>`;

const renderJson = (value: unknown): string => renderCode(JSON.stringify(value, null, 2), 'json');

function renderWebhook(
  { operationId, summary, description, parameters, requestBody }: Operation,
  toUrl: ToSchemaUrl,
): Part {
  const html = joinBlocks([
    renderHeading(3, summary, operationId),
    renderText(description),
    renderParameters(parameters, toUrl),
    requestBody && `<p>Body: ${describeContent(requestBody.content, toUrl)}</p>`,
    requestBody &&
      renderBlock(
        'Example of the body',
        renderJson(requestBody.content['application/json']?.examples?.recorded?.value),
      ),
  ]);
  return { html, section: { level: 3, id: operationId, title: summary, text: description } };
}

const renderParameters = (parameters: readonly Parameter[], toUrl: ToSchemaUrl): string =>
  renderTable(
    ['Parameter', 'In', 'Type', 'Required', 'Description', 'Example'],
    parameters.map(({ name, in: location, required, description, schema, example }) => [
      toCode(name),
      location,
      describeType(schema, toUrl),
      required ? 'yes' : 'no',
      renderInline(description),
      toExample(example),
    ]),
  );

function renderErrors({ components }: Document, toUrl: ToSchemaUrl): string {
  const responses = Object.entries(components.responses as Readonly<Record<string, ErrorResponse>>)
    .filter(([name]) => !/^(?:Processor|OpenIap)/.test(name))
    .map(([, { description, content }]) => ({ description, body: content['application/json'].examples.error.value }));
  return joinBlocks([
    `<p>The body is an ${linkSchema('Error', toUrl)}; the Stripe operations return a ${linkSchema('ProcessorError', toUrl)}, and <code>POST /v1/purchase/verify</code> returns ${linkSchema('OpenIapErrors', toUrl)}. <code>POST /v1/validate</code> returns its errors with the status 200.</p>`,
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

function renderSchema(
  name: string,
  schema: JsonSchema,
  { level, toUrl }: { readonly level: 2 | 3; readonly toUrl: ToSchemaUrl },
): Part {
  const { properties = {}, required = [] } = schema as {
    properties?: Readonly<Record<string, JsonSchema>>;
    required?: readonly string[];
  };
  const rows = Object.entries(properties);
  const id = `schema-${name}`;
  const html = joinBlocks([
    renderHeading(level, name, id),
    renderText(String(schema.description)),
    rows.length === 0 && `<p>Type: ${describeType(schema, toUrl)}</p>`,
    rows.length > 0 &&
      renderTable(
        ['Field', 'Type', 'Required', 'Description', 'Example'],
        rows.map(([field, member]) => [
          toCode(field),
          describeType(member, toUrl),
          required.includes(field) ? 'yes' : 'no',
          renderInline(String(member.description)),
          toExample((member.examples as readonly unknown[] | undefined)?.[0]),
        ]),
      ),
  ]);
  const fields = rows.map(([field, { description = '' }]) => `${field} ${description}`).join(' ');
  return { html, section: { level, id, title: name, text: `${schema.description} ${fields}` } };
}

const describeContent = (content: Content | undefined, toUrl: ToSchemaUrl): string => {
  const schema = content?.['application/json']?.schema;
  return schema ? describeType(schema, toUrl) : 'none';
};

/** Describes a type in a few words, with links to the named schemas, as HTML. */
function describeType(schema: JsonSchema, toUrl: ToSchemaUrl): string {
  const { $ref, oneOf, items, additionalProperties, format, type } = schema;
  const choices = schema.const === undefined ? schema.enum : [schema.const];
  if (typeof $ref === 'string') return linkSchema($ref, toUrl);
  if (Array.isArray(oneOf)) return oneOf.map((choice) => describeType(choice, toUrl)).join(' or ');
  if (Array.isArray(choices)) return choices.map((choice) => toCode(JSON.stringify(choice))).join(', ');
  if (typeof items === 'object') return `list of ${describeType(items as JsonSchema, toUrl)}`;
  if (typeof additionalProperties === 'object')
    return `map of ${describeType(additionalProperties as JsonSchema, toUrl)}`;
  const isDate = format === 'date' || format === 'date-time';
  return [isDate ? format : (type ?? 'any')].flat().join(' or ');
}

function linkSchema(reference: string, toUrl: ToSchemaUrl): string {
  const name = reference.slice(reference.lastIndexOf('/') + 1);
  return `<a href="${toUrl(name)}">${name}</a>`;
}

/** Unlike a name, an example can be broken at any character: the column of descriptions must have its width. */
const toExample = (example: unknown): string =>
  example === undefined ? '' : `<code class="value">${escapeHtml(JSON.stringify(example))}</code>`;
